/** Passwords, tokens and one-time codes, for the modules that log people and agents in. */
export { newTicket, TICKET_SECONDS } from './browser-tickets.ts';
export { loginAnswer, tokensShape } from './login-answer.ts';
export {
  equalHash,
  newAgentToken,
  newApiKey,
  newEnrollmentKey,
  newOpaqueToken,
  pepperedHash,
  sha256Hex,
} from './opaque-tokens.ts';
export { hashPassword, needsRehash, verifyDummy, verifyPassword } from './passwords.ts';
export {
  hashRecoveryCode,
  newRecoveryCodes,
  newTotpSecret,
  plainRecoveryCode,
  totpUri,
  verifyTotp,
} from './totp.ts';
