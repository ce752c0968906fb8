-- Answers to requests that carried an Idempotency-Key, for a day: who sends the request again gets the answer of the first.

create table idempotency_keys (
  caller text not null,
  route text not null,
  key varchar(128) not null,
  -- of path, query and body
  request_hash text not null,
  status integer,
  answer json,
  created_at timestamptz not null default now(),
  primary key (caller, route, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
call protect_platform('idempotency_keys');

-- No row when the key is new, or over; then it is the caller's until the transaction ends, and others who send it wait.
create function take_idempotency_key(who text, what text, given text, hash text)
returns table (request_hash text, status integer, answer json)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  insert into idempotency_keys as k (caller, route, key, request_hash) values (who, what, given, hash)
  on conflict (caller, route, key) do update
    set request_hash = excluded.request_hash, status = null, answer = null, created_at = now()
    where k.created_at < now() - interval '24 hours';
  if found then
    return;
  end if;
  return query select k.request_hash, k.status, k.answer from idempotency_keys k
    where k.caller = who and k.route = what and k.key = given;
end $$;

create function keep_idempotent_answer(who text, what text, given text, code integer, body json) returns void
language sql security definer set search_path = public, pg_temp as $$
  update idempotency_keys set status = code, answer = body where caller = who and route = what and key = given
$$;
revoke all on function take_idempotency_key(text, text, text, text),
  keep_idempotent_answer(text, text, text, integer, json) from public;
grant execute on function take_idempotency_key(text, text, text, text),
  keep_idempotent_answer(text, text, text, integer, json) to quartermaster_app, quartermaster_platform;
