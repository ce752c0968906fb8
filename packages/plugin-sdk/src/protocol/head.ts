/** The head of a plugin's message, which the host judges before it parses what follows. */

export interface Head {
  id: string;
  token: string;
  /** Null for answers. */
  method: string | null;
}

/** In this order, as the runtimes write it. */
const HEAD = /^\{"id":"([^"\\]{1,64})",(?:"method":"([^"\\]{0,64})",)?"token":"([^"\\]{1,64})",/;

/** Null where it is no message. */
export function readHead(line: string): Head | null {
  const found = HEAD.exec(line);
  if (!found) return null;
  const [, id = '', method = null, token = ''] = found;
  return { id, method, token };
}
