import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { checkRequestSignature, parsePemRequest, parseRequest } from "./certificate-request.ts";
import { TAG } from "./der.ts";
import { X509Error } from "./error.ts";
import { pemBlocks } from "./pem.ts";
import { element, objectIdentifier as identifier, sequence, set, type Content } from "./der-writer.ts";
import { bitString, integer, text } from "./testing/der-writer.ts";
import { bytesOf, REQUESTS, UNSUPPORTED_CURVE_REQUEST, UNTRUSTED_REQUESTS } from "./testing/samples.ts";

for (const [name, request] of Object.entries(REQUESTS)) {
  test(`a request signed with ${name} is parsed, and its signature is valid`, () => {
    const { subject, dnsNames, emailAddresses, ipAddresses, uris, ...rest } = parsePemRequest(bytesOf(request));

    assert.deepEqual(subject, { commonName: "system:node:ä", organizations: ["system:nodes"] });
    assert.deepEqual([dnsNames, emailAddresses, uris], [["a.example.com", "b"], ["x@y.z"], ["spiffe://a.b/c"]]);
    assert.deepEqual(
      ipAddresses.map((address) => [...address]),
      [
        [10, 0, 0, 1],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
      ],
    );
    checkRequestSignature({ subject, dnsNames, emailAddresses, ipAddresses, uris, ...rest });
  });

  test(`a request signed with ${name} for another subject is rejected`, () => {
    const parsed = parsePemRequest(bytesOf(request));
    const signed = Uint8Array.from(parsed.signed);
    signed[20] = (signed[20] ?? 0) ^ 1;

    assert.throws(() => checkRequestSignature({ ...parsed, signed }), {
      message: /^(?:crypto\/rsa: verification error|x509: (?:ECDSA|Ed25519) verification failure)$/,
    });
  });
}

test("a request with one flipped bit is rejected", () => {
  const [{ bytes } = { bytes: new Uint8Array(0) }] = pemBlocks(bytesOf(REQUESTS.P256));
  const position = fc.integer({ min: 0, max: bytes.length * 8 - 1 });
  fc.assert(
    fc.property(position, (bit) => {
      const changed = Uint8Array.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.throws(() => checkRequestSignature(parseRequest(changed)), X509Error);
    }),
    { numRuns: 60 },
  );
});

const UNTRUSTED: readonly [request: string, message: string][] = [
  [UNTRUSTED_REQUESTS.MD5, "x509: cannot verify signature: insecure algorithm MD5-RSA"],
  [UNTRUSTED_REQUESTS["768 bits"], "crypto/rsa: 768-bit keys are insecure (see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)"],
  [UNSUPPORTED_CURVE_REQUEST, "x509: unsupported elliptic curve"],
  ["", "PEM block type must be CERTIFICATE REQUEST"],
  ["-----BEGIN X-----\n-----END X-----\n", "PEM block type must be CERTIFICATE REQUEST"],
];

for (const [request, message] of UNTRUSTED) {
  test(`a request is rejected: ${message}`, () => {
    assert.throws(() => checkRequestSignature(parsePemRequest(bytesOf(request))), { name: "X509Error", message });
  });
}

test("a signature of an algorithm that does not match the key, or is unknown, is rejected", () => {
  const parsed = parsePemRequest(bytesOf(REQUESTS.P256));
  const withAlgorithm =
    (algorithm: string, parameters: Content = []) =>
    () =>
      checkRequestSignature({ ...parsed, signatureAlgorithm: { algorithm, parameters: Uint8Array.from(parameters) } });

  assert.throws(withAlgorithm("1.2.840.113549.1.1.11"), {
    message: "x509: signature algorithm specifies an RSA public key, but have public key of type *ecdsa.PublicKey",
  });
  for (const [algorithm, parameters] of [
    ["1.2.3", []],
    ["1.3.101.112", [5, 0]],
    ["1.2.840.113549.1.1.10", []],
  ] as const) {
    assert.throws(withAlgorithm(algorithm, parameters), { message: "x509: cannot verify signature: algorithm unimplemented" });
  }
  assert.throws(() => checkRequestSignature({ ...parsed, publicKey: undefined }), { message: /algorithm unimplemented$/ });
});

// A hand-written request of an unknown algorithm, so that its parts can be anything.
const NAME = sequence(set(sequence(identifier("2.5.4.3"), text(TAG.utf8String, "x"))));
const ALGORITHM = sequence(identifier("1.2.3"));
const KEY = sequence(ALGORITHM, bitString([1]));
const NONE = element(0xa0);

function request(...parts: readonly Content[]): Uint8Array {
  return sequence(sequence(...parts), ALGORITHM, bitString([1]));
}

function withName(...parts: readonly Content[]): Uint8Array {
  return request(integer(0), sequence(...parts), KEY, NONE);
}

function withKey(algorithm: string, parameters: Content, ...key: readonly Content[]): Uint8Array {
  return request(integer(0), NAME, sequence(sequence(identifier(algorithm), parameters), bitString(...key)), NONE);
}

/** One attribute, which requests extensions. */
function withExtensions(...extensions: readonly Content[]): Uint8Array {
  const attribute = sequence(identifier("1.2.840.113549.1.9.14"), set(sequence(...extensions)));
  return request(integer(0), NAME, KEY, element(0xa0, attribute));
}

function withNames(...names: readonly Content[]): Uint8Array {
  return withExtensions(sequence(identifier("2.5.29.17"), element(TAG.octetString, sequence(...names))));
}

const OPTIONS =
  "{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}";
const RSA = "1.2.840.113549.1.1.1";
const EC = "1.2.840.10045.2.1";
const P256 = identifier("1.2.840.10045.3.1.7");
const ED = "1.3.101.112";
const DSA = "1.2.840.10040.4.1";
const NULL = element(TAG.null);

const BROKEN: readonly [der: Content, message: string][] = [
  [[], "asn1: syntax error: sequence truncated"],
  [[0x30], "asn1: syntax error: truncated tag or length"],
  [[0x30, 0x80], "asn1: syntax error: indefinite length found (not DER)"],
  [[0x30, 0x82, 1], "asn1: syntax error: truncated tag or length"],
  [[0x30, 0x81, 0], "asn1: structure error: superfluous leading zeros in length"],
  [[0x30, 0x81, 1, 0], "asn1: structure error: non-minimal length"],
  [[0x30, 0x85, 1, 1, 1, 1, 1], "asn1: structure error: length too large"],
  [[0x30, 5, 0], "asn1: syntax error: data truncated"],
  [[0x3f, 1, 0], "asn1: syntax error: non-minimal tag"],
  [[0x3f, 0x80], "asn1: syntax error: integer is not minimally encoded"],
  [[0x3f, 0xff], "asn1: syntax error: truncated base 128 integer"],
  [[0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 1], "asn1: structure error: base 128 integer too large"],
  [
    integer(1),
    `asn1: structure error: tags don't match (16 vs {class:0 tag:2 length:1 isCompound:false}) ${OPTIONS} certificateRequest @2`,
  ],
  [request(integer(), NAME, KEY, NONE), "asn1: structure error: empty integer"],
  [request(integer(0, 1), NAME, KEY, NONE), "asn1: structure error: integer not minimally-encoded"],
  [request(integer(1, 2, 3, 4, 5, 6, 7, 8, 9), NAME, KEY, NONE), "asn1: structure error: integer too large"],
  [request(integer(0), NAME), "asn1: syntax error: sequence truncated"],
  [request(integer(0), NAME, sequence(sequence(element(TAG.objectIdentifier)))), "asn1: syntax error: zero length OBJECT IDENTIFIER"],
  [request(integer(0), NAME, sequence(ALGORITHM, element(TAG.bitString))), "asn1: syntax error: zero length BIT STRING"],
  [
    request(integer(0), NAME, sequence(ALGORITHM, element(TAG.bitString, [3, 1]))),
    "asn1: syntax error: invalid padding bits in BIT STRING",
  ],
  [request(integer(0), NAME, KEY, element(0xa0, [0x30, 9])), "asn1: syntax error: truncated sequence"],
  [[...request(integer(0), NAME, KEY, NONE), 0], "asn1: syntax error: trailing data"],
  [withName(sequence()), "asn1: structure error: sequence tag mismatch"],
  [
    withName(set(sequence(identifier("2.5.4.3"), text(TAG.printableString, "a_b")))),
    "asn1: syntax error: PrintableString contains invalid character",
  ],
  [
    withName(set(sequence(identifier("2.5.4.3"), text(TAG.numericString, "x")))),
    "asn1: syntax error: NumericString contains invalid character",
  ],
  [withName(set(sequence(identifier("2.5.4.3"), text(TAG.ia5String, "ä")))), "asn1: syntax error: IA5String contains invalid character"],
  [withName(set(sequence(identifier("2.5.4.3"), element(TAG.utf8String, [0xff])))), "asn1: invalid UTF-8 string"],
  [withName(set(sequence(identifier("2.5.4.3"), element(TAG.bmpString, [1])))), "invalid BMPString"],
  [withName(set(sequence(identifier("2.5.4.3"), element(TAG.boolean, [1])))), "asn1: syntax error: invalid boolean"],
  [withKey(RSA, [], [1]), "x509: RSA key missing NULL parameters"],
  [withKey(RSA, NULL, [1]), "x509: invalid RSA public key"],
  [withKey(RSA, NULL, sequence()), "x509: invalid RSA modulus"],
  [withKey(RSA, NULL, sequence(integer(1))), "x509: invalid RSA public exponent"],
  [withKey(RSA, NULL, sequence(integer(0), integer(3))), "x509: RSA modulus is not a positive number"],
  [withKey(RSA, NULL, sequence(integer(5), integer(0xff))), "x509: RSA public exponent is not a positive number"],
  [withKey(EC, [], [4]), "x509: invalid ECDSA parameters"],
  [withKey(EC, P256, [2]), "ecdsa: invalid uncompressed public key"],
  [withKey(EC, P256, [4]), "invalid P256 point encoding"],
  [withKey(EC, P256, [4, ...Array<number>(64).fill(0xff)]), "invalid P256 element encoding"],
  [withKey(EC, identifier("1.3.132.0.34"), [4, ...Array<number>(96).fill(0xff)]), "invalid P384Element encoding"],
  [withKey(EC, P256, [4, ...Array<number>(64).fill(1)]), "P256 point not on curve"],
  [withKey(ED, NULL, [1]), "x509: Ed25519 key encoded with illegal parameters"],
  [withKey(ED, [], [1]), "x509: wrong Ed25519 public key size"],
  [withKey(DSA, [], [1]), "x509: invalid DSA public key"],
  [withKey(DSA, sequence(), integer(1)), "x509: invalid DSA parameters"],
  [withKey(DSA, sequence(integer(1), integer(1), integer(0)), integer(1)), "x509: zero or negative DSA parameter"],
  [
    withExtensions(
      sequence(identifier("2.5.29.17"), element(TAG.octetString)),
      sequence(identifier("2.5.29.17"), element(TAG.octetString)),
    ),
    "x509: certificate request contains duplicate requested extensions",
  ],
  [
    withExtensions(sequence(identifier("2.5.29.17"), element(TAG.boolean, [0xff]), integer(1))),
    `asn1: structure error: tags don't match (4 vs {class:0 tag:2 length:1 isCompound:false}) ${OPTIONS}  @10`,
  ],
  [withExtensions(sequence(identifier("2.5.29.17"), element(TAG.octetString))), "x509: invalid subject alternative names"],
  [withNames([0x82]), "x509: invalid subject alternative name"],
  [withNames(text(0x81, "ä")), "x509: SAN rfc822Name is malformed"],
  [withNames(text(0x82, "ä")), "x509: SAN dNSName is malformed"],
  [withNames(text(0x86, "ä")), "x509: SAN uniformResourceIdentifier is malformed"],
  [withNames(text(0x86, "x://a:b")), 'x509: cannot parse URI "x://a:b": parse "x://a:b": invalid port ":b" after host'],
  [withNames(text(0x86, "x://a./b")), 'x509: cannot parse URI "x://a./b": invalid domain'],
  [withNames(element(0x87, [1, 2, 3])), "x509: cannot parse IP address of length 3"],
];

for (const [der, message] of BROKEN) {
  test(`a malformed request is rejected: ${message}`, () => {
    assert.throws(() => parseRequest(Uint8Array.from(der)), { name: "X509Error", message });
  });
}

test("a request without names is valid, and malformed attributes are ignored", () => {
  const attributes = element(0xa0, sequence(integer(1)), sequence(identifier("1.2.3"), set(integer(1))));
  const parsed = parseRequest(request(integer(0), sequence(), KEY, attributes));

  assert.deepEqual(parsed.subject, { commonName: "", organizations: [] });
  assert.deepEqual([parsed.dnsNames, parsed.publicKey], [[], undefined]);
});

test("any bytes are parsed as a request or rejected with an X509Error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      assert.throws(() => parseRequest(bytes), X509Error);
    }),
  );
});
