-- What plugins tell has kinds of its own, `plugin.<slug>.<name>`: who heard all of it goes on hearing all of it.

update webhooks set events = array_replace(events, 'plugin.event', 'plugin.*') where 'plugin.event' = any(events);
