/** The claims of a provider about a person, read by the provider's settings. */
import { domainToASCII } from 'node:url';
import { LoginRefused } from '../errors.ts';
import type { Provider } from '../models/provider.ts';
import { isGoogle } from './settings.ts';

export type Claims = Record<string, unknown>;
export interface Person {
  subject: string;
  /** In lower case. */
  email: string;
  /** Whether the address is verified as the person's. */
  emailVerified: boolean;
  name: string;
  /** Whether the provider says that it asked for a second factor. */
  mfa: boolean;
}
type Reading = Pick<Provider, 'issuer' | 'emailClaim' | 'nameClaim' | 'trustEmail' | 'allowedDomains'>;

const text = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');
const yes = (value: unknown): boolean => value === true || value === 'true' || value === '1' || value === 1;

/**
 * The person of an ID token, with what user info says besides. Throws `email_missing`, `domain_not_allowed`,
 * `invalid_response`.
 */
export function readPerson(provider: Reading, idToken: Claims, userInfo: Claims): Person {
  const subject = text(idToken.sub);
  if (subject === '' || subject.length > 255) throw new LoginRefused('invalid_response', 'the subject is not usable');
  // Address and verification come from one place: each says whether its own address was verified.
  const source = text(userInfo[provider.emailClaim]) === '' ? idToken : userInfo;
  const email = text(source[provider.emailClaim]).toLowerCase();
  if (!/^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(email) || email.length > 255) {
    throw new LoginRefused('email_missing', `the claim ${provider.emailClaim} holds no address`);
  }
  const domain = domainToASCII(email.slice(email.lastIndexOf('@') + 1));
  if (provider.allowedDomains.length > 0 && !provider.allowedDomains.includes(domain)) {
    throw new LoginRefused('domain_not_allowed', `the domain ${domain} is not allowed`);
  }
  const name = text(userInfo[provider.nameClaim]) || text(idToken[provider.nameClaim]) || email;
  const { amr } = idToken;
  return {
    subject,
    email,
    emailVerified: isVerified(provider, email, source),
    name: name.replace(/\p{C}/gu, '').slice(0, 255) || email,
    mfa: Array.isArray(amr) && amr.includes('mfa'),
  };
}

/** An address that the provider calls unverified stays so; one that it says nothing about is a matter of trust. */
function isVerified(provider: Reading, email: string, source: Claims): boolean {
  // The standard claim speaks of the standard address only; Entra has a claim of its own.
  const said = provider.emailClaim === 'email' ? (source.email_verified ?? source.xms_edov) : undefined;
  if (said === undefined) return provider.trustEmail;
  // For other addresses Google only knows that the user once received mail there, not that they still do.
  if (isGoogle(provider.issuer) && !email.endsWith('@gmail.com')) return yes(said) && text(source.hd) !== '';
  return yes(said);
}
