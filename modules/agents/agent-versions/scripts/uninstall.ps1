<#
Stops the Quartermaster agent and its watchdog on Windows and removes them. In a PowerShell of an administrator:
  Invoke-RestMethod '@SERVER@/api/v1/agents/uninstall.ps1' | Invoke-Expression
Or from a file: uninstall.ps1 -KeepState keeps the identity of this machine. -Prefix removes what install.ps1 -Prefix installed.
#>
param(
  [string]$Prefix = '',
  [switch]$KeepState
)
Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'

$identity = New-Object Security.Principal.WindowsPrincipal([Security.Principal.WindowsIdentity]::GetCurrent())
$isAdmin = $identity.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)
if (-not $Prefix -and -not $isAdmin) { throw 'uninstall.ps1: run it as an administrator' }

$programs = if ($Prefix) { Join-Path $Prefix 'Program Files' } else { $env:ProgramFiles }
$data = if ($Prefix) { Join-Path $Prefix 'ProgramData' } else { $env:ProgramData }
$folder = Join-Path $programs 'Quartermaster Agent'
$stateFolder = Join-Path $data 'Quartermaster Agent'
$state = Join-Path $stateFolder 'state.json'
$agent = Join-Path $folder 'agent.exe'
$task = 'Quartermaster Agent'

# The server learns that the agent is removed on purpose. The removal does not depend on it.
$told = $false
if ((Test-Path -LiteralPath $agent) -and (Test-Path -LiteralPath $state)) {
  try {
    & $agent uninstall --state $state 2>&1 | Out-Null
    $told = $LASTEXITCODE -eq 0
  } catch { $told = $false }
}

if (-not $Prefix) {
  if (Get-ScheduledTask -TaskName $task -ErrorAction SilentlyContinue) {
    Stop-ScheduledTask -TaskName $task -ErrorAction SilentlyContinue
    Unregister-ScheduledTask -TaskName $task -Confirm:$false
  }
  # The task ends the watchdog; the agent that it started may outlive it. The watchdog first, because it would start the agent.
  foreach ($name in 'watchdog.exe', 'agent.exe') {
    $place = Join-Path $folder $name
    Get-Process | Where-Object { $_.Path -eq $place } | Stop-Process -Force
  }
}
# The file of a program is in use for a moment after its end.
for ($attempt = 1; Test-Path -LiteralPath $folder; $attempt++) {
  try { Remove-Item -Recurse -Force -LiteralPath $folder } catch { if ($attempt -ge 10) { throw } else { Start-Sleep -Seconds 1 } }
}
if (-not $KeepState -and (Test-Path -LiteralPath $stateFolder)) { Remove-Item -Recurse -Force -LiteralPath $stateFolder }
Write-Output 'The Quartermaster agent is removed. The server shows its device offline until it is decommissioned there.'
if (-not $told) { Write-Output 'The server was not told: it could not be reached, or no agent was enrolled here.' }
