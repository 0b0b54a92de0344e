import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import {
  cidrWarnings,
  ipWarnings,
  validateCidr,
  validateInterfaceAddress,
  validateIp,
  validateLegacyCidr,
  validateLegacyIp,
} from "./ip-validation.ts";

const NOT_AN_IP = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NOT_A_CIDR = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

test("an IP of a new field must be valid and canonical", () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["10.0.0.1", []],
    ["fd00::1", []],
    ["10.0.0", [NOT_AN_IP]],
    ["10.0.0.01", ["must not have leading 0s"]],
    ["::ffff:10.0.0.1", ["must not be an IPv4-mapped IPv6 address"]],
    ["FD00::1", ['must be in canonical form ("fd00::1")']],
  ];
  deepEqual(
    rows.map(([text]) => [text, validateIp(text)]),
    rows,
  );
});

test("an IP of a legacy field may be non-canonical, with a warning", () => {
  const rows: readonly (readonly [string, readonly string[], readonly string[], readonly string[]])[] = [
    ["10.0.0.1", [], [], []],
    ["x", [NOT_AN_IP], [NOT_AN_IP], []],
    ["10.0.0.01", [], ["must not have leading 0s"], ['at: non-standard IP address "10.0.0.01" is invalid: use "10.0.0.1"']],
    [
      "::ffff:1.2.3.4",
      [],
      ["must not be an IPv4-mapped IPv6 address"],
      ['at: non-standard IP address "::ffff:1.2.3.4" is invalid: use "1.2.3.4"'],
    ],
    ["FD00::1", [], [], ['at: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")']],
  ];
  deepEqual(
    rows.map(([text]) => [
      text,
      validateLegacyIp(text, { strict: false }),
      validateLegacyIp(text, { strict: true }),
      ipWarnings(text, "at"),
    ]),
    rows,
  );
  deepEqual(validateLegacyIp("x", { strict: true, previous: new Set(["x"]) }), []);
});

test("a CIDR of a new field must be valid, canonical and without host bits", () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["10.0.0.0/8", []],
    ["10.0.0.0", [NOT_A_CIDR]],
    ["10.0.0.0/08", ["must not have leading 0s in IP or prefix length"]],
    ["10.0.0.1/8", ["must not have bits set beyond the prefix length"]],
    ["::ffff:10.0.0.0/104", ["must not have an IPv4-mapped IPv6 address"]],
    ["FD00::/64", ['must be in canonical form ("fd00::/64")']],
  ];
  deepEqual(
    rows.map(([text]) => [text, validateCidr(text)]),
    rows,
  );
});

test("a CIDR of a legacy field may be non-canonical, with a warning", () => {
  const bits = "must not have bits set beyond the prefix length";
  const rows: readonly (readonly [string, readonly string[], readonly string[], readonly string[]])[] = [
    ["10.0.0.0/8", [], [], []],
    ["x", [NOT_A_CIDR], [NOT_A_CIDR], []],
    ["10.0.0.1/8", [], [bits], ['at: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)']],
    [
      "::ffff:1.2.3.0/120",
      [],
      ["must not have an IPv4-mapped IPv6 address"],
      ['at: non-standard CIDR value "::ffff:1.2.3.0/120" is invalid: use "1.2.3.0/24"'],
    ],
    ["FD00::/64", [], [], ['at: IPv6 CIDR value "FD00::/64" should be in RFC 5952 canonical format ("fd00::/64")']],
  ];
  deepEqual(
    rows.map(([text]) => [
      text,
      validateLegacyCidr(text, { strict: false }),
      validateLegacyCidr(text, { strict: true }),
      cidrWarnings(text, "at"),
    ]),
    rows,
  );
  deepEqual(validateLegacyCidr("x", { strict: true, previous: new Set(["x"]) }), []);
});

test("an interface address keeps its host bits", () => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["192.168.1.5/24", []],
    ["192.168.1.5", ["must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"]],
    ["192.168.01.5/24", ['must be in canonical form ("192.168.1.5/24")']],
    ["::ffff:192.168.0.1/120", ['must be in canonical form ("192.168.0.1/24")']],
  ];
  deepEqual(
    rows.map(([text]) => [text, validateInterfaceAddress(text)]),
    rows,
  );
});
