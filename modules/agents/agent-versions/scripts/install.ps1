<#
Installs the Quartermaster agent and its watchdog on Windows, enrolls this machine and starts them. In a PowerShell of an
administrator:
  $env:AGENT_TOKEN = 'KEY'; Invoke-RestMethod '@SERVER@/api/v1/agents/install.ps1' | Invoke-Expression
Or from a file: install.ps1 -Server URL -TokenFile FILE -DeviceRole ROLE -NoStart -NoPower. The key and the secret come from
AGENT_TOKEN and AGENT_ENROLLMENT_SECRET or from files, never from arguments. A second run updates the programs to the latest version.
-NoPower: the agent refuses to restart, shut down or lock this machine. Later runs keep that; -Power ends it.
-Prefix installs below another folder, without a task and without administrator rights.
#>
param(
  [string]$Server = '@SERVER@',
  [string]$TokenFile = '',
  [string]$SecretFile = '',
  [string]$DeviceRole = '',
  [string]$Prefix = '',
  [switch]$NoStart,
  [switch]$NoPower,
  [switch]$Power
)
Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

$Server = $Server.TrimEnd('/')
$Token = if ($TokenFile) { (Get-Content -Raw -LiteralPath $TokenFile).Trim() } else { [string]$env:AGENT_TOKEN }
$Secret = if ($SecretFile) { (Get-Content -Raw -LiteralPath $SecretFile).Trim() } else { [string]$env:AGENT_ENROLLMENT_SECRET }
# The programs that this script starts do not get them.
Remove-Item Env:AGENT_TOKEN, Env:AGENT_ENROLLMENT_SECRET -ErrorAction SilentlyContinue

$identity = New-Object Security.Principal.WindowsPrincipal([Security.Principal.WindowsIdentity]::GetCurrent())
$isAdmin = $identity.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)
if (-not $Prefix -and -not $isAdmin) { throw 'install.ps1: run it as an administrator' }
if (-not [Environment]::Is64BitOperatingSystem) { throw 'install.ps1: only 64-bit Windows is supported' }

$programs = if ($Prefix) { Join-Path $Prefix 'Program Files' } else { $env:ProgramFiles }
$data = if ($Prefix) { Join-Path $Prefix 'ProgramData' } else { $env:ProgramData }
$folder = Join-Path $programs 'Quartermaster Agent'
$stateFolder = Join-Path $data 'Quartermaster Agent'
$state = Join-Path $stateFolder 'state.json'
$task = 'Quartermaster Agent'
if (-not (Test-Path -LiteralPath $state) -and -not $Token) {
  throw 'install.ps1: an enrollment key is needed: set AGENT_TOKEN or give -TokenFile'
}

$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid().ToString('N'))
New-Item -ItemType Directory -Path $work | Out-Null

# Lets only the system and administrators read a folder: it holds programs that run as the system, tokens and keys.
function Protect-Folder([string]$Path) {
  if ($Prefix) { return }
  & icacls.exe $Path /inheritance:r /grant:r '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F' | Out-Null
  if ($LASTEXITCODE -ne 0) { throw "install.ps1: the rights of $Path could not be set" }
}

# Downloads one program and verifies it, before it changes an installed one.
function Get-Program([string]$Component) {
  $query = "platform=windows&arch=amd64&component=$Component"
  $latest = Invoke-RestMethod -UseBasicParsing -Uri "$Server/api/v1/agent-versions/latest?$query"
  $version = [Uri]::EscapeDataString($latest.version)
  $file = Join-Path $work "$Component.exe"
  Invoke-WebRequest -UseBasicParsing -OutFile $file -Uri "$Server/api/v1/agents/download/windows/amd64?component=$Component&version=$version"
  if ((Get-FileHash -Algorithm SHA256 -LiteralPath $file).Hash -ne $latest.checksum) {
    throw "install.ps1: the downloaded $Component has another checksum: nothing was installed"
  }
  $said = & $file version
  if ($LASTEXITCODE -ne 0 -or $said -ne $latest.version) { throw "install.ps1: this machine cannot run the $Component" }
  return $latest.version
}

# The file of a running program cannot be overwritten, but renamed.
function Set-Program([string]$Component) {
  $place = Join-Path $folder "$Component.exe"
  if (Test-Path -LiteralPath $place) { Move-Item -Force -LiteralPath $place -Destination "$place.replaced" }
  Move-Item -LiteralPath (Join-Path $work "$Component.exe") -Destination $place
}

try {
  Protect-Folder $work
  $version = Get-Program 'agent'
  Get-Program 'watchdog' | Out-Null
  if (-not $Prefix) { Stop-ScheduledTask -TaskName $task -ErrorAction SilentlyContinue }
  foreach ($place in $folder, $stateFolder) { New-Item -ItemType Directory -Force -Path $place | Out-Null }
  Protect-Folder $stateFolder
  Set-Program 'agent'
  Set-Program 'watchdog'
  $agent = Join-Path $folder 'agent.exe'
  $watchdog = Join-Path $folder 'watchdog.exe'

  if (-not (Test-Path -LiteralPath $state)) {
    # Other users can read the arguments of a running program, so secrets are passed in files.
    $keyFile = Join-Path $work 'key'
    [IO.File]::WriteAllText($keyFile, $Token)
    $arguments = @('enroll', '--server', $Server, '--state', $state, '--key-file', $keyFile)
    if ($Secret) {
      $secretFile = Join-Path $work 'secret'
      [IO.File]::WriteAllText($secretFile, $Secret)
      $arguments += @('--secret-file', $secretFile)
    }
    if ($DeviceRole) { $arguments += @('--device-role', $DeviceRole) }
    & $agent @arguments
    if ($LASTEXITCODE -ne 0) { throw 'install.ps1: this machine could not be enrolled' }
  }

  if (-not $Prefix) {
    # The watchdog runs the agent. When it exits with a code other than 0, as after its own update, it restarts after a minute.
    $run = "watchdog --program `"$agent`" --supervised --state `"$state`""
    $known = Get-ScheduledTask -TaskName $task -ErrorAction SilentlyContinue
    $hadNoPower = $known -and ($known.Actions | Where-Object { "$($_.Arguments)" -match '--no-power' })
    if ($NoPower -or ($hadNoPower -and -not $Power)) { $run += ' --no-power' }
    $action = New-ScheduledTaskAction -Execute "`"$watchdog`"" -Argument $run
    $trigger = New-ScheduledTaskTrigger -AtStartup
    $principal = New-ScheduledTaskPrincipal -UserId 'S-1-5-18' -LogonType ServiceAccount -RunLevel Highest
    $settings = New-ScheduledTaskSettingsSet -RestartCount 999 -RestartInterval (New-TimeSpan -Minutes 1) `
      -ExecutionTimeLimit ([TimeSpan]::Zero) -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries -MultipleInstances IgnoreNew
    Register-ScheduledTask -Force -TaskName $task -Action $action -Trigger $trigger -Principal $principal -Settings $settings | Out-Null
    if (-not $NoStart) { Start-ScheduledTask -TaskName $task }
  }
  Write-Output "The Quartermaster agent $version is installed."
} finally {
  Remove-Item -Recurse -Force -LiteralPath $work -ErrorAction SilentlyContinue
}
