/** The Windows registry, as live tools read and change it. */

/** The hives, by their short names. */
export const HIVES = {
  HKLM: 'HKEY_LOCAL_MACHINE',
  HKCU: 'HKEY_CURRENT_USER',
  HKCR: 'HKEY_CLASSES_ROOT',
  HKU: 'HKEY_USERS',
  HKCC: 'HKEY_CURRENT_CONFIG',
} as const;
export const VALUE_TYPES = ['REG_SZ', 'REG_EXPAND_SZ', 'REG_MULTI_SZ', 'REG_DWORD', 'REG_QWORD', 'REG_BINARY'] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

/** A key: its path below a hive, in the 64-bit or the 32-bit view. */
export interface RegistryPlace {
  hive: string;
  path: string;
  view: '64' | '32';
}
export interface RegistryKeyItem {
  name: string;
  path: string;
  subKeyCount: number | null;
  valueCount: number | null;
  lastModified: string | null;
}
export interface RegistryValueItem {
  name: string;
  type: string;
  data: unknown;
  truncated: boolean;
}
/** The type and size that a value had before it was set; null for a new value. */
export interface ValueSet {
  before: { type: string; bytes: number } | null;
}
