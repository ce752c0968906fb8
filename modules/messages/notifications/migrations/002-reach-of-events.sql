comment on function notification_take(jsonb) is
  'any tenant: it notes the id of an event; who is notified follows from the organization of the event itself';
