import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { cellsOf, newObject, problemsOfChange, problemsOfNew, warningsOfNew, type Sent } from "../../testing/kind.ts";
import { decodedLength, decodeText, encodeText, textLength } from "./secret/contents.ts";
import { secrets } from "./secret.ts";

test("stringData is merged into data, takes precedence, and is not stored", () => {
  const secret = newObject(secrets, { stringData: { a: "ü", c: "" }, data: { a: "eA==", b: "eA==" } });

  assert.deepEqual(secret.data, { a: "w7w=", b: "eA==", c: "" });
  assert.equal("stringData" in secret, false);
  assert.equal(secret.type, "Opaque");
});

test("a Secret with all defaults is returned unchanged", () => {
  const secret = newObject(secrets, { data: { a: "eA==" }, type: "a/b" });

  assert.equal(secrets.served[0]?.defaults?.(secret), secret);
});

const REDACTED = 'data[.dockercfg]: Invalid value: "<secret contents redacted>":';
const dockercfg = (text: string): Sent => ({ type: "kubernetes.io/dockercfg", stringData: { ".dockercfg": text } });

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["any type and contents", { type: "x/y", data: { a: "eA==" } }, []],
  [
    "a type alone that needs a service account",
    { type: "kubernetes.io/service-account-token" },
    ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
  ],
  [
    "a token's service account",
    { type: "kubernetes.io/service-account-token", metadata: { annotations: { "kubernetes.io/service-account.name": "a" } } },
    [],
  ],
  ["no .dockercfg", { type: "kubernetes.io/dockercfg" }, ["data[.dockercfg]: Required value"]],
  ["no .dockerconfigjson", { type: "kubernetes.io/dockerconfigjson" }, ["data[.dockerconfigjson]: Required value"]],
  ["an object in .dockercfg", dockercfg("{}"), []],
  ["null in .dockercfg", dockercfg("null"), []],
  ["a list in .dockercfg", dockercfg("[]"), [`${REDACTED} json: cannot unmarshal array into Go value of type map[string]interface {}`]],
  ["a truth in .dockercfg", dockercfg("true"), [`${REDACTED} json: cannot unmarshal bool into Go value of type map[string]interface {}`]],
  ["half of an object in .dockercfg", dockercfg("{"), [`${REDACTED} unexpected end of JSON input`]],
  ["neither name nor password", { type: "kubernetes.io/basic-auth" }, ["data[username]: Required value", "data[password]: Required value"]],
  ["an empty password", { type: "kubernetes.io/basic-auth", stringData: { password: "" } }, []],
  [
    "an empty key for SSH",
    { type: "kubernetes.io/ssh-auth", stringData: { "ssh-privatekey": "" } },
    ["data[ssh-privatekey]: Required value"],
  ],
  ["neither certificate nor key", { type: "kubernetes.io/tls" }, ["data[tls.crt]: Required value", "data[tls.key]: Required value"]],
  ["more than a mebibyte", { stringData: { a: "x".repeat(1024 * 1024 + 1) } }, ["data: Too long: may not be more than 1048576 bytes"]],
  ["a key that begins with two dots", { stringData: { "..a": "y" } }, ["data[..a]: Invalid value: \"..a\": must not start with '..'"]],
];

for (const [title, sent, problems] of ROWS) {
  test(`a Secret with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(secrets, sent), problems);
  });
}

test("the type of a Secret is immutable, and so are the contents of an immutable one", () => {
  assert.deepEqual(problemsOfChange(secrets, newObject(secrets, {}), { type: "a/b" }), ['type: Invalid value: "a/b": field is immutable']);
  const sentence = "Forbidden: field is immutable when `immutable` is set";
  assert.deepEqual(problemsOfChange(secrets, newObject(secrets, { data: { a: "eA==" }, immutable: true }), { data: { a: "eQ==" } }), [
    `immutable: ${sentence}`,
    `data: ${sentence}`,
  ]);
});

test("errors about immutable fields precede those about the contents", () => {
  assert.deepEqual(problemsOfChange(secrets, newObject(secrets, {}), { type: "kubernetes.io/ssh-auth" }), [
    'type: Invalid value: "kubernetes.io/ssh-auth": field is immutable',
    "data[ssh-privatekey]: Required value",
  ]);
});

const pem = (type: string): string => `-----BEGIN ${type}-----\neHg=\n-----END ${type}-----\n`;

const TLS_ROWS: readonly [title: string, certificate: string, key: string, warning: string | undefined][] = [
  ["both in place", pem("CERTIFICATE"), pem("EC PRIVATE KEY"), undefined],
  ["no PEM at all", "x", "x", "tls: failed to find any PEM data in certificate input"],
  [
    "both switched",
    pem("PRIVATE KEY"),
    pem("CERTIFICATE"),
    "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched",
  ],
  [
    "other blocks instead",
    pem("FOO") + pem("BAR"),
    "x",
    'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [FOO BAR]',
  ],
  ["no key", pem("CERTIFICATE"), "x", "tls: failed to find any PEM data in key input"],
  [
    "a certificate for a key",
    pem("CERTIFICATE"),
    pem("CERTIFICATE"),
    "tls: found a certificate rather than a key in the PEM for the private key",
  ],
  [
    "other blocks for a key",
    pem("CERTIFICATE"),
    pem("A") + pem("B"),
    'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [A B]',
  ],
];

for (const [title, certificate, key, warning] of TLS_ROWS) {
  test(`a TLS Secret with ${title} is stored ${warning === undefined ? "without" : "with"} a warning`, () => {
    const sent = { type: "kubernetes.io/tls", stringData: { "tls.crt": certificate, "tls.key": key } };

    assert.deepEqual(warningsOfNew(secrets, sent), warning === undefined ? [] : [warning]);
  });
}

test("a Secret is shown and selected by its type", () => {
  const secret = newObject(secrets, { type: "a/b", stringData: { a: "x" } });

  assert.deepEqual(cellsOf(secrets, secret), { Name: "x", Type: "a/b", Data: 1, Age: "<unknown>" });
  assert.equal(secrets.selectableFields.type?.(secret), "a/b");
});

test("the computed length of base64 is the decoded length", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const base64 = encodeText(text);
      assert.equal(decodedLength(base64), textLength(text));
      assert.equal(decodeText(base64), text);
    }),
  );
});
