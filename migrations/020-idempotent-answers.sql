-- Answers under an Idempotency-Key are kept in the round trip of the commit: the function takes rows, as the outboxes' do.

drop function keep_idempotent_answer(text, text, text, integer, json);
create function keep_idempotent_answers(answered jsonb) returns void
language sql security definer set search_path = public, pg_temp as $$
  update idempotency_keys k set status = a.status, answer = a.answer
  from jsonb_to_recordset(answered) a (caller text, route text, key text, status integer, answer json)
  where k.caller = a.caller and k.route = a.route and k.key = a.key
$$;
revoke all on function keep_idempotent_answers(jsonb) from public;
grant execute on function keep_idempotent_answers(jsonb) to quartermaster_app, quartermaster_platform;
