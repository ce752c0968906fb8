comment on function orderer_has_left(uuid, text, uuid) is
  'any tenant: authors of commands may be users of the partner, and it tells only that one is no longer active';
