import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { checkCertificates, parseCertificates } from "./certificate.ts";
import { TAG } from "./der.ts";
import { X509Error } from "./error.ts";
import { pemBlocks } from "./pem.ts";
import { element, objectIdentifier as identifier, sequence, set, type Content } from "./der-writer.ts";
import { bitString, integer, text } from "./testing/der-writer.ts";
import { bytesOf, CERTIFICATE } from "./testing/samples.ts";

const [{ bytes: GOOD } = { bytes: new Uint8Array(0) }] = pemBlocks(bytesOf(CERTIFICATE));

test("concatenated certificates are counted", () => {
  assert.equal(checkCertificates(GOOD), 1);
  assert.equal(checkCertificates(Uint8Array.from([...GOOD, ...GOOD])), 2);
  assert.equal(checkCertificates(new Uint8Array(0)), 0);
});

test("a truncated certificate is rejected", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: GOOD.length - 1 }), (length) => {
      assert.throws(() => checkCertificates(GOOD.subarray(0, length)), X509Error);
    }),
  );
});

// A hand-written certificate of an unknown algorithm, so that its parts can be anything.
const ALGORITHM = sequence(identifier("1.2.3"));
const NAME = sequence(set(sequence(identifier("2.5.4.3"), text(TAG.utf8String, "x"))));
const TIME = text(TAG.utcTime, "240102030405Z");
const VALIDITY = sequence(TIME, text(TAG.generalizedTime, "20550102030405Z"));
const KEY = sequence(ALGORITHM, bitString([1]));

interface Parts {
  readonly version?: Content;
  readonly serial?: Content;
  readonly algorithm?: Content;
  readonly issuer?: Content;
  readonly validity?: Content;
  readonly subject?: Content;
  readonly key?: Content;
  readonly tail?: Content;
  readonly signature?: Content;
}

function certificate(parts: Parts = {}): Uint8Array {
  const { version = element(0xa0, integer(2)), serial = integer(1), algorithm = ALGORITHM, issuer = NAME } = parts;
  const { validity = VALIDITY, subject = NAME, key = KEY, tail = [], signature = bitString([1]) } = parts;
  return sequence(sequence(version, serial, algorithm, issuer, validity, subject, key, tail), ALGORITHM, signature);
}

function withExtension(id: string, value: Content, critical: Content = []): Uint8Array {
  return certificate({ tail: element(0xa3, sequence(sequence(identifier(id), critical, element(TAG.octetString, value)))) });
}

function named(tag: number, ...bytes: readonly number[]): Parts {
  return { issuer: sequence(set(sequence(identifier("2.5.4.3"), element(tag, bytes)))) };
}

const VALUE = "x509: invalid RDNSequence: invalid attribute value";

const BROKEN: readonly [parts: Parts | Content, message: string][] = [
  [[0], "x509: malformed certificate"],
  [sequence(integer(1)), "x509: malformed tbs certificate"],
  [{ version: element(0xa0) }, "x509: malformed version"],
  [{ version: element(0xa0, integer(3)) }, "x509: invalid version"],
  [{ serial: [] }, "x509: malformed serial number"],
  [{ serial: integer(0xff) }, "x509: negative serial number"],
  [{ algorithm: [] }, "x509: inner and outer signature algorithm identifiers don't match"],
  [{ algorithm: integer(1) }, "x509: malformed signature algorithm identifier"],
  [sequence(sequence(integer(1), ALGORITHM)), "x509: malformed algorithm identifier"],
  [sequence(sequence(integer(1), sequence()), sequence()), "x509: malformed OID"],
  [sequence(sequence(integer(1), sequence(identifier("1.2"), [5])), sequence(identifier("1.2"), [5])), "x509: malformed parameters"],
  [{ issuer: integer(1) }, "x509: malformed issuer"],
  [{ issuer: sequence(integer(1)) }, "x509: invalid RDNSequence"],
  [{ issuer: sequence(set(integer(1))) }, "x509: invalid RDNSequence: invalid attribute"],
  [{ issuer: sequence(set(sequence(integer(1)))) }, "x509: invalid RDNSequence: invalid attribute type"],
  [{ issuer: sequence(set(sequence(identifier("1.2")))) }, VALUE],
  [named(TAG.printableString, 0x5f), `${VALUE}: invalid PrintableString`],
  [named(TAG.utf8String, 0xff), `${VALUE}: invalid UTF-8 string`],
  [named(TAG.bmpString, 0xd8, 0), `${VALUE}: invalid BMPString`],
  [named(TAG.ia5String, 0x80), `${VALUE}: invalid IA5String`],
  [named(TAG.numericString, 0x41), `${VALUE}: invalid NumericString`],
  [named(TAG.integer, 1), `${VALUE}: unsupported string type: 2`],
  [{ validity: integer(1) }, "x509: malformed validity"],
  [{ validity: sequence(integer(1)) }, "x509: unsupported time format"],
  [{ validity: sequence(TIME) }, "x509: unsupported time format"],
  [{ validity: sequence(text(TAG.utcTime, "240230000000Z")) }, "x509: malformed UTCTime"],
  [{ validity: sequence(text(TAG.utcTime, "240102000000+0000")) }, "x509: malformed UTCTime"],
  [{ validity: sequence(TIME, text(TAG.generalizedTime, "202401020304Z")) }, "x509: malformed GeneralizedTime"],
  [{ key: integer(1) }, "x509: malformed spki"],
  [{ key: sequence() }, "x509: malformed public key algorithm identifier"],
  [{ key: sequence(ALGORITHM) }, "x509: malformed subjectPublicKey"],
  [{ key: sequence(sequence(identifier("1.3.101.112")), bitString([1])) }, "x509: wrong Ed25519 public key size"],
  [{ tail: [0x81] }, "x509: malformed issuerUniqueID"],
  [{ tail: [0x82] }, "x509: malformed subjectUniqueID"],
  [{ tail: element(0xa3) }, "x509: malformed extensions"],
  [{ tail: element(0xa3, sequence(integer(1))) }, "x509: malformed extension"],
  [{ tail: element(0xa3, sequence(sequence())) }, "x509: malformed extension OID field"],
  [{ tail: element(0xa3, sequence(sequence(identifier("1.2"), element(TAG.boolean, [1])))) }, "x509: malformed extension critical field"],
  [{ tail: element(0xa3, sequence(sequence(identifier("1.2")))) }, "x509: malformed extension value field"],
  [
    {
      tail: element(
        0xa3,
        sequence(sequence(identifier("1.2"), element(TAG.octetString)), sequence(identifier("1.2"), element(TAG.octetString))),
      ),
    },
    'x509: certificate contains duplicate extension with OID "1.2"',
  ],
  [{ signature: integer(1) }, "x509: malformed signature"],
];

for (const [broken, message] of BROKEN) {
  test(`a malformed certificate is rejected: ${message}`, () => {
    const der = broken instanceof Uint8Array || Array.isArray(broken) ? Uint8Array.from(broken as Content) : certificate(broken as Parts);

    assert.throws(() => checkCertificates(der), { name: "X509Error", message });
  });
}

test("obsolete identifiers are accepted, and times may have a zone", () => {
  const unique = Uint8Array.from([...element(0x81, [0]), ...element(0x82, [0])]);
  const zoned = sequence(text(TAG.utcTime, "2401020304+0130"), text(TAG.generalizedTime, "20240102030405-0500"));

  assert.equal(checkCertificates(certificate({ tail: unique })), 1);
  assert.equal(checkCertificates(certificate({ version: [], tail: integer(1) })), 1);
  assert.equal(checkCertificates(certificate({ validity: zoned })), 1);
  assert.equal(checkCertificates(withExtension("1.2.3", [1])), 1);
});

const CRITICAL = element(TAG.boolean, [0xff]);
const ID = identifier("1.2.3");
const constraint = (tag: number, ...bytes: readonly number[]) => sequence(element(0xa0, sequence(element(tag, bytes))));

const EXTENSIONS: readonly [id: string, value: Content, message: string, critical?: Content][] = [
  ["2.5.29.14", [], "x509: invalid subject key identifier"],
  ["2.5.29.14", element(TAG.octetString), "x509: subject key identifier incorrectly marked critical", CRITICAL],
  ["2.5.29.15", [], "x509: invalid key usage"],
  ["2.5.29.17", [], "x509: invalid subject alternative names"],
  ["2.5.29.19", [], "x509: invalid basic constraints"],
  ["2.5.29.19", sequence(element(TAG.boolean, [1])), "x509: invalid basic constraints"],
  ["2.5.29.19", sequence(integer(0xff)), "x509: invalid basic constraints"],
  ["2.5.29.30", [], "x509: invalid NameConstraints extension"],
  ["2.5.29.30", sequence(), "x509: empty name constraints extension"],
  ["2.5.29.30", sequence(integer(1)), "x509: invalid NameConstraints extension"],
  ["2.5.29.30", sequence(element(0xa0, integer(1))), "x509: invalid NameConstraints extension"],
  ["2.5.29.30", constraint(0x82, 0xff), 'x509: invalid constraint value: x509: "\\xff" cannot be encoded as an IA5String'],
  ["2.5.29.30", constraint(0x82, 0x20), 'x509: failed to parse dnsName constraint " "'],
  ["2.5.29.30", constraint(0x81, 0x20), 'x509: failed to parse rfc822Name constraint " "'],
  ["2.5.29.30", constraint(0x81, 0x40), 'x509: failed to parse rfc822Name constraint "@"'],
  ["2.5.29.30", constraint(0x86, 0x20), 'x509: failed to parse URI constraint " "'],
  ["2.5.29.30", constraint(0x86, 0x3a, 0x3a), 'x509: failed to parse URI constraint "::": cannot be IP address'],
  ["2.5.29.30", constraint(0x87, 1), "x509: IP constraint contained value of length 1"],
  ["2.5.29.30", constraint(0x87, 1, 2, 3, 4, 255, 0, 255, 0), "x509: IP constraint contained invalid mask ff00ff00"],
  ["2.5.29.31", [], "x509: invalid CRL distribution points"],
  ["2.5.29.31", sequence(integer(1)), "x509: invalid CRL distribution point"],
  ["2.5.29.31", sequence(sequence(element(0xa0, integer(1)))), "x509: invalid CRL distribution point"],
  ["2.5.29.32", [], "x509: invalid certificate policies"],
  ["2.5.29.32", sequence(sequence(ID), sequence(ID)), "x509: invalid certificate policies"],
  ["2.5.29.32", sequence(sequence(element(TAG.objectIdentifier, [0x2a, 0x80, 1]))), "x509: invalid certificate policies"],
  ["2.5.29.33", [], "x509: invalid policy mappings extension"],
  ["2.5.29.33", sequence(sequence(ID)), "x509: invalid policy mappings extension"],
  ["2.5.29.35", [], "x509: invalid authority key identifier"],
  ["2.5.29.35", sequence(), "x509: authority key identifier incorrectly marked critical", CRITICAL],
  ["2.5.29.36", [], "x509: invalid policy constraints extension"],
  ["2.5.29.36", sequence(element(0x81, [0, 0])), "x509: invalid policy constraints extension"],
  ["2.5.29.37", [], "x509: invalid extended key usages"],
  ["2.5.29.37", sequence(integer(1)), "x509: invalid extended key usages"],
  ["2.5.29.54", [], "x509: invalid inhibit any policy extension"],
  ["1.3.6.1.5.5.7.1.1", [], "x509: invalid authority info access"],
  ["1.3.6.1.5.5.7.1.1", sequence(sequence()), "x509: invalid authority info access"],
  ["1.3.6.1.5.5.7.1.1", sequence(), "x509: authority info access incorrectly marked critical", CRITICAL],
];

const DIRECTORY_NAME = element(0xa4, sequence());

const UNDERSTOOD: readonly [what: string, id: string, value: Content, understood: boolean][] = [
  ["has an unknown id", "1.2.3.4", element(TAG.octetString), false],
  ["has an unknown id below 2.5.29", "2.5.29.99", sequence(), false],
  ["has only unsupported alternative names", "2.5.29.17", sequence(DIRECTORY_NAME), false],
  ["has a subject alternative name", "2.5.29.17", sequence(text(0x82, "a.example")), true],
  ["constrains unknown names", "2.5.29.30", sequence(element(0xa0, sequence(DIRECTORY_NAME))), false],
  ["constrains domains", "2.5.29.30", sequence(element(0xa0, sequence(text(0x82, "a.example")))), true],
  ["has extended key usages", "2.5.29.37", sequence(identifier("1.2")), true],
  ["has certificate policies", "2.5.29.32", sequence(), true],
];

for (const [what, id, value, understood] of UNDERSTOOD) {
  test(`an extension that ${what} ${understood ? "is" : "is not"} understood, which matters if it is critical`, () => {
    const [critical] = parseCertificates(withExtension(id, value, CRITICAL));
    const [other] = parseCertificates(withExtension(id, value));

    assert.deepEqual(critical?.unhandledCriticalExtensions, understood ? [] : [id]);
    assert.deepEqual(other?.unhandledCriticalExtensions, []);
  });
}

for (const [id, value, message, critical = []] of EXTENSIONS) {
  test(`a malformed extension ${id} is rejected: ${message}`, () => {
    assert.throws(() => checkCertificates(withExtension(id, value, critical)), { name: "X509Error", message });
  });
}
