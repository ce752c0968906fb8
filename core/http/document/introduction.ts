/** What the API document says before its operations: the rules that hold for all of them. In Markdown. */

export const INTRODUCTION = `Remote monitoring and management for managed service providers.

## Authentication
People log in (\`POST /auth/login\`) and send the access token as \`Authorization: Bearer\`; programs send an API key as \`X-API-Key\`. Each
operation names the permission that it needs of people and the scope that it needs of keys. What lies beyond the reach of the caller is
answered 403 or 404.

## Errors
Every error is \`{"error": {"code", "message", "details"}}\`, or RFC 9457 problem details with \`Accept: application/problem+json\`. A
code keeps its meaning and status; messages are for people and may change. The details of \`VALIDATION_ERROR\` name each fault by \`in\`,
\`path\` and \`message\`. \`X-Request-Id\` identifies a request in answers, in the audit trail and in logs; a caller may send its own.
Answers with the status 503 are worth another try, after \`Retry-After\` seconds.

## Pagination
Lists take \`page\` and \`limit\`, or \`cursor\`: empty for the first page, then the cursor of the page before, until it is null. A limit
outside the bounds of a list is clamped to them. The order is stable. \`fields=a,b\` selects fields where an operation lists it.
Lists with \`updatedSince\` can be followed: \`updatedSince=beginning\` gives everything, and the cursor of the last page gives what has
changed since, with \`deleted\` for what has left the list.

## Idempotency
Operations that list the header \`Idempotency-Key\` give a request that is sent again with the same key the answer of the first, for 24
hours, and change nothing more. Use a new random key of up to 128 characters for each intended change.

## Concurrent changes
Resources answer with an \`ETag\`. \`If-None-Match\` is answered 304 while nothing has changed. A change with \`If-Match\` is refused with
412 when the resource has changed since it was read.

## Limits
\`RateLimit\` and \`RateLimit-Policy\` tell how many calls are left in which window. A call beyond a limit is answered 429 with
\`Retry-After\`. Keys have limits of their own, told in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`.

## Versioning
The version is part of the path, \`/api/v1\`. Within it fields, parameters, operations, codes of errors and kinds of events are added and
none change their meaning, so ignore what you do not know. What is going to be removed answers with \`Deprecation\`, \`Sunset\` and \`Link\`
at least until the date of \`Sunset\`.`;
