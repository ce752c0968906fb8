-- What agent and watchdog say about themselves. Null until they say so.
alter table device_state
  add column agent_status text check (agent_status in ('ok', 'warning', 'error')),
  -- by the watchdog: how often it started the agent in the last 24 hours, and whether that is too often
  add column main_agent_restart_count integer,
  add column flap_detected boolean;

-- Followers of the list hear of these as well, and of the power commands.
drop trigger track_devices_in_device_state on device_state;
drop trigger track_devices_in_device_state_update on device_state;
drop function track_devices_in_device_state();
call track_changes('device_state', 'devices', id => 'device_id', groups => 'groups_of_device(device_id)',
  site => '(select d.site_id from devices d where d.id = device_id)',
  shown => 'org_id, connectivity, last_seen_ip, lan_ip, main_agent_silent_since, watchdog_status, watchdog_version,
    helper_version, updating_since, updating_to_version, pending_reboot, last_user, maintenance_active, power_commands,
    is_headless, agent_status, main_agent_restart_count, flap_detected');
