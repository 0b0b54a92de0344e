/**
 * Validation of fields that hold an IP or a CIDR: returns upstream's messages, none for a valid value. Fields older than the strict rules
 * are "legacy": they accept non-canonical values and, without `strict`, leading zeros and IPv4-mapped IPv6, and produce warnings instead.
 */
import {
  formatCidr,
  formatIp,
  isMapped,
  networkOf,
  parseCidr,
  parseIp,
  parseSloppyCidr,
  parseSloppyIp,
  unmapIp,
  type Cidr,
  type IpAddress,
} from "./ip-address.ts";

const NOT_AN_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NOT_A_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
const NOT_AN_INTERFACE = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
/** Prefix length that precedes the IPv4 one in an IPv4-mapped CIDR. */
const MAPPED_PREFIX_LENGTH = 96;

/** New fields: valid and canonical. */
export function validateIp(value: string): readonly string[] {
  const address = parseSloppyIp(value);
  if (address === undefined) return [NOT_AN_IP];
  const wrong = strictIpErrors(value, address);
  return wrong.length > 0 || value === formatIp(address) ? wrong : [`must be in canonical form ("${formatIp(address)}")`];
}

export interface LegacyRules {
  readonly strict: boolean;
  /** Values that the field already had; they remain valid on update. */
  readonly previous?: ReadonlySet<string>;
}

/** Legacy fields. */
export function validateLegacyIp(value: string, options: LegacyRules): readonly string[] {
  if (options.previous?.has(value) === true) return [];
  const address = parseSloppyIp(value);
  if (address === undefined) return [NOT_AN_IP];
  return options.strict ? strictIpErrors(value, address) : [];
}

function strictIpErrors(value: string, address: IpAddress): readonly string[] {
  if (parseIp(value) === undefined) return ["must not have leading 0s"];
  return isMapped(address) ? ["must not be an IPv4-mapped IPv6 address"] : [];
}

/** New fields: a canonical CIDR. */
export function validateCidr(value: string): readonly string[] {
  const cidr = parseSloppyCidr(value);
  if (cidr === undefined) return [NOT_A_CIDR];
  const wrong = strictCidrErrors(value);
  const canonical = formatCidr(networkOf(cidr));
  return wrong.length > 0 || value === canonical ? wrong : [`must be in canonical form ("${canonical}")`];
}

/** Legacy fields, like `validateLegacyIp`. */
export function validateLegacyCidr(value: string, options: LegacyRules): readonly string[] {
  if (options.previous?.has(value) === true) return [];
  if (parseSloppyCidr(value) === undefined) return [NOT_A_CIDR];
  return options.strict ? strictCidrErrors(value) : [];
}

function strictCidrErrors(value: string): readonly string[] {
  const cidr = parseCidr(value);
  if (cidr === undefined) return ["must not have leading 0s in IP or prefix length"];
  if (isMapped(cidr.address)) return ["must not have an IPv4-mapped IPv6 address"];
  return cidr.address.value === networkOf(cidr).address.value ? [] : ["must not have bits set beyond the prefix length"];
}

/** "192.168.1.5/24": an interface address, with its network. */
export function validateInterfaceAddress(value: string): readonly string[] {
  const cidr = parseSloppyCidr(value);
  if (cidr === undefined) return [NOT_AN_INTERFACE];
  const isShortened = isMapped(cidr.address) && cidr.prefixLength > 32;
  const prefixLength = isShortened ? cidr.prefixLength - MAPPED_PREFIX_LENGTH : cidr.prefixLength;
  const canonical = formatCidr({ address: unmapIp(cidr.address), prefixLength });
  return value === canonical ? [] : [`must be in canonical form ("${canonical}")`];
}

/** Warnings for a value that passed `validateLegacyIp`. */
export function ipWarnings(value: string, at: string): readonly string[] {
  const address = parseSloppyIp(value);
  if (address === undefined) return [];
  if (parseIp(value) === undefined || isMapped(address)) {
    return [`${at}: non-standard IP address ${JSON.stringify(value)} is invalid: use "${formatIp(unmapIp(address))}"`];
  }
  if (address.family === 4 || formatIp(address) === value) return [];
  return [`${at}: IPv6 address ${JSON.stringify(value)} should be in RFC 5952 canonical format ("${formatIp(address)}")`];
}

/** Warnings for a value that passed `validateLegacyCidr`. */
export function cidrWarnings(value: string, at: string): readonly string[] {
  const cidr = parseSloppyCidr(value);
  if (cidr === undefined) return [];
  const warnings: string[] = [];
  const network = networkOf(cidr);
  if (network.address.value !== cidr.address.value) {
    const single = `${formatIp(unmapIp(cidr.address))}/${cidr.address.family === 4 ? 32 : 128}`;
    warnings.push(
      `${at}: CIDR value ${JSON.stringify(value)} is ambiguous in this context (should be "${formatUnmapped(network)}" or "${single}"?)`,
    );
  }
  if (parseCidr(value) === undefined || isMapped(cidr.address)) {
    warnings.push(`${at}: non-standard CIDR value ${JSON.stringify(value)} is invalid: use "${formatUnmapped(network)}"`);
  }
  if (warnings.length > 0 || cidr.address.family === 4 || formatCidr(cidr) === value) return warnings;
  return [`${at}: IPv6 CIDR value ${JSON.stringify(value)} should be in RFC 5952 canonical format ("${formatCidr(cidr)}")`];
}

/** Converts an IPv4-mapped CIDR to the IPv4 CIDR. */
function formatUnmapped({ address, prefixLength }: Cidr): string {
  if (!isMapped(address)) return formatCidr({ address, prefixLength });
  return formatCidr({ address: unmapIp(address), prefixLength: Math.max(0, prefixLength - MAPPED_PREFIX_LENGTH) });
}
