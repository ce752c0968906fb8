/** The two questions of the filters scenario: as condition trees, and as SQL that a person would write for them by hand. */

export interface Question {
  conditions: object;
  /** Parameter $1 is the list of organizations. */
  byHand: string;
}

const shown = (source: string) => `
with found as materialized (select d.id, lower(d.hostname) collate "C" as name from devices d ${source})
select c.total, now() as at, r.* from (select count(*) as total from found) c
left join (
  select d.id, p.name, d.hostname, d.display_name, d.os_type, case when d.lifecycle <> 'active' then d.lifecycle
    when s.updating_since > now() - interval '5 minutes' then 'updating'
    when s.maintenance_active or d.maintenance_until > now() then 'maintenance' else s.connectivity end as status, s.last_seen_at
  from (select id, name from found order by name, id limit 10) p join devices d on d.id = p.id
  join device_state s on s.device_id = d.id) r on true
order by r.name, r.id`;

export const ONE_CONTAINS: Question = {
  conditions: { operator: 'AND', conditions: [{ field: 'hostname', operator: 'contains', value: 'srv-01' }] },
  byHand: shown(
    `where d.org_id = any($1::uuid[]) and d.lifecycle <> 'decommissioned' and lower(d.hostname) like '%srv-01%'`,
  ),
};

export const NESTED: Question = {
  conditions: {
    operator: 'AND',
    conditions: [
      { field: 'osType', operator: 'equals', value: 'windows' },
      {
        operator: 'OR',
        conditions: [
          { field: 'software.installed', operator: 'contains', value: 'mozilla browser' },
          { field: 'hostname', operator: 'contains', value: 'kiosk-01' },
        ],
      },
      { field: 'metrics.diskPercent', operator: 'greaterThan', value: 80 },
      { field: 'lastSeenAt', operator: 'withinLast', value: { amount: 30, unit: 'days' } },
    ],
  },
  byHand: shown(`
    join device_state s on s.device_id = d.id
    where d.org_id = any($1::uuid[]) and d.lifecycle <> 'decommissioned' and d.os_type = 'windows'
      and (d.id in (select w.device_id from device_software w where w.name = any(
             array(select n.name from software_names n where lower(n.name) like '%mozilla browser%')))
        or lower(d.hostname) like '%kiosk-01%')
      and (s.latest_metrics ->> 'diskPercent')::numeric > 80
      and s.last_seen_at >= now() - interval '30 days' and s.last_seen_at <= now()`),
};
