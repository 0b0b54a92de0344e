import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import { anAuthority } from "../../testing/certificates.ts";
import { cellsOf, problemsOfChange, problemsOfNew, received } from "../../testing/kind.ts";
import { clusterTrustBundles } from "./cluster-trust-bundle.ts";

const [ONE, TWO] = [anAuthority(1n), anAuthority(2n)];
const OMITTED = 'spec.trustBundle: Invalid value: "<value omitted>":';
const GARBAGE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

const ROWS: readonly [title: string, name: string, spec: JsonObject, problems: readonly string[]][] = [
  ["two authorities", "b", { trustBundle: ONE + TWO }, []],
  ["a signer in its name", "example.com:s:v1", { signerName: "example.com/s", trustBundle: ONE }, []],
  ["text around its certificates", "b", { trustBundle: `comment\n${ONE}comment\n` }, []],
  [
    "a signer that its name lacks",
    "b",
    { signerName: "example.com/s", trustBundle: ONE },
    ['metadata.name: Invalid value: "b": ClusterTrustBundle for signerName example.com/s must be named with prefix example.com:s:'],
  ],
  [
    "a name like that of a signer, without one",
    "a:b",
    { trustBundle: ONE },
    ['metadata.name: Invalid value: "a:b": ClusterTrustBundle without signer name must not have ":" in its name'],
  ],
  [
    "an invalid signer",
    "s:b",
    { signerName: "s", trustBundle: ONE },
    ["spec.signerName: Invalid value: \"s\": must be a fully qualified domain and path of the form 'example.com/signer-name'"],
  ],
  ["no certificate", "b", { trustBundle: "" }, [`${OMITTED} at least one trust anchor must be provided`]],
  ["the same authority twice", "b", { trustBundle: ONE + TWO + ONE }, [`${OMITTED} duplicate trust anchor (indices [0 2])`]],
  [
    "what is no authority",
    "b",
    {
      trustBundle: [
        ONE.replaceAll("CERTIFICATE", "KEY"),
        ONE.replace("-----\n", "-----\nname: value\n\n"),
        GARBAGE,
        anAuthority(3n, { isAuthority: false }),
      ].join(""),
    },
    [
      `${OMITTED} entry 0 has bad block type: KEY`,
      `${OMITTED} entry 1 has PEM block headers`,
      `${OMITTED} entry 2 does not parse as X.509`,
      `${OMITTED} entry 3 does not have the CA bit set`,
    ],
  ],
  ["too much text", "b", { trustBundle: "x".repeat(1024 * 1024 + 1) }, ["spec.trustBundle: Too long: may not be more than 1048576 bytes"]],
];

for (const [title, name, spec, problems] of ROWS) {
  test(`a ClusterTrustBundle with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(clusterTrustBundles, { metadata: { name }, spec }), problems);
  });
}

test("the signer of a ClusterTrustBundle is immutable, and an unchanged bundle is not parsed again", () => {
  const previous = received(clusterTrustBundles, { metadata: { name: "b" }, spec: { trustBundle: GARBAGE } });

  assert.deepEqual(problemsOfChange(clusterTrustBundles, previous, { spec: { trustBundle: GARBAGE } }), []);
  assert.deepEqual(problemsOfChange(clusterTrustBundles, previous, { spec: { trustBundle: "" } }), [
    `${OMITTED} at least one trust anchor must be provided`,
  ]);
  const signed = received(clusterTrustBundles, {
    metadata: { name: "example.com:s:v1" },
    spec: { signerName: "example.com/s", trustBundle: ONE },
  });
  const moved = { metadata: { name: "example.com:s:v1" }, spec: { signerName: "example.com/t", trustBundle: ONE } };
  assert.deepEqual(problemsOfChange(clusterTrustBundles, signed, moved), [
    'metadata.name: Invalid value: "example.com:s:v1": ClusterTrustBundle for signerName example.com/t must be named with prefix example.com:t:',
    'spec.signerName: Invalid value: "example.com/t": field is immutable',
  ]);
});

test("the table of ClusterTrustBundles has the signer", () => {
  const bundle = (name: string, spec: JsonObject) => received(clusterTrustBundles, { metadata: { name }, spec });

  assert.deepEqual(cellsOf(clusterTrustBundles, bundle("b", { trustBundle: ONE })), { Name: "b", SignerName: "<none>" });
  assert.deepEqual(cellsOf(clusterTrustBundles, bundle("a:b:c", { signerName: "a/b", trustBundle: ONE })), {
    Name: "a:b:c",
    SignerName: "a/b",
  });
});
