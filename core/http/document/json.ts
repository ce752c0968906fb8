/** JSON values of the API document. */

export type Json = Record<string, unknown>;
/** Of a schema: of what requests send, or of what answers hold. */
export type Direction = 'input' | 'output';
