import assert from "node:assert/strict";
import test from "node:test";
import { resourcesWith } from "./all.ts";
import { DEFAULT_FEATURE_GATES } from "./feature-gates.ts";
import type { JsonObject } from "./machinery/object.ts";
import type { Resource } from "./machinery/resource.ts";
import { newObject, problemsOfNew, type Sent } from "./testing/kind.ts";

const ALL_ON = { ...DEFAULT_FEATURE_GATES, ClusterTrustBundle: true, ClusterTrustBundleProjection: true, PodCertificateRequest: true };

function kindOf(plural: string, gates = ALL_ON): Resource | undefined {
  return resourcesWith(gates).find((resource) => resource.plural === plural);
}

function podSpec(sources: readonly JsonObject[]): JsonObject {
  return { containers: [{ name: "c", image: "i" }], restartPolicy: "Never", volumes: [{ name: "v", projected: { sources } }] };
}

const template = (spec: JsonObject): JsonObject => ({ metadata: { labels: { a: "b" } }, spec });

/** A kind with a Pod spec in it. */
const KINDS: readonly [plural: string, object: (spec: JsonObject) => Sent][] = [
  ["pods", (spec) => ({ spec })],
  ["podtemplates", (spec) => ({ template: template(spec) })],
  ...["replicationcontrollers", "daemonsets", "deployments", "replicasets", "statefulsets", "jobs"].map(
    (plural): [string, (spec: JsonObject) => Sent] => [plural, (spec) => ({ spec: { template: template(spec) } })],
  ),
  ["cronjobs", (spec) => ({ spec: { jobTemplate: { spec: { template: template(spec) } } } })],
];

const SOURCES = [{ clusterTrustBundle: { path: "b" } }, { podCertificate: { keyPath: "k" } }, { configMap: { name: "c" } }];

for (const [plural, object] of KINDS) {
  test(`sources of disabled features are dropped from new ${plural}, and those of enabled ones are kept`, () => {
    const kept = (gates: typeof ALL_ON): readonly string[] => {
      const text = JSON.stringify(newObject(kindOf(plural, gates) as Resource, object(podSpec(SOURCES))));
      return ["clusterTrustBundle", "podCertificate", "configMap"].filter((name) => text.includes(`"${name}"`));
    };

    assert.deepEqual(kept(DEFAULT_FEATURE_GATES), ["configMap"]);
    assert.deepEqual(kept({ ...ALL_ON, PodCertificateRequest: false }), ["clusterTrustBundle", "configMap"]);
    assert.deepEqual(kept({ ...ALL_ON, ClusterTrustBundleProjection: false }), ["podCertificate", "configMap"]);
    assert.deepEqual(kept(ALL_ON), ["clusterTrustBundle", "podCertificate", "configMap"]);
  });
}

test("the kinds of disabled features are not served", () => {
  const plurals = ["clustertrustbundles", "podcertificaterequests"];

  assert.deepEqual(
    plurals.map((plural) => kindOf(plural, DEFAULT_FEATURE_GATES)),
    [undefined, undefined],
  );
  assert.deepEqual(
    plurals.map((plural) => kindOf(plural)?.plural),
    plurals,
  );
});

const AT = "spec.volumes[0].projected";
const bundleAt = (index: number): string => `${AT}.sources[${index}].clusterTrustBundle`;
const certificateAt = (index: number): string => `${AT}.sources[${index}].podCertificate`;
const SIGNER = "example.com/s";

const ROWS: readonly [title: string, sources: readonly JsonObject[], problems: readonly string[]][] = [
  [
    "valid sources",
    [
      { clusterTrustBundle: { name: "b", path: "a" } },
      { clusterTrustBundle: { name: "example.com:s:v1", path: "b" } },
      { clusterTrustBundle: { signerName: SIGNER, labelSelector: { matchLabels: { a: "b" } }, path: "c" } },
      { podCertificate: { signerName: SIGNER, keyType: "RSA3072", keyPath: "k", maxExpirationSeconds: 3_600 } },
    ],
    [],
  ],
  [
    "bundles that are named in no way or in two",
    [
      { clusterTrustBundle: { path: "a" } },
      { clusterTrustBundle: { name: "b", signerName: SIGNER, path: "b" } },
      { clusterTrustBundle: { name: "", labelSelector: {}, path: "../c" } },
      { clusterTrustBundle: { signerName: "", path: "b" } },
      { clusterTrustBundle: { name: "a:", path: "" } },
    ],
    [
      `${bundleAt(0)}: Required value: either name or signerName must be specified`,
      `${bundleAt(1)}: Invalid value: {"name":"b","signerName":"example.com/s","path":"b"}: only one of name and signerName may be used`,
      `${bundleAt(2)}.name: Required value: must be a valid object name`,
      `${bundleAt(2)}.name: Invalid value: "": not a valid clustertrustbundlename: SUBDOMAIN`,
      `${bundleAt(2)}.labelSelector: Invalid value: {}: labelSelector must be unset if name is specified`,
      `${bundleAt(2)}.path: Invalid value: "../c": must not contain '..'`,
      `${bundleAt(3)}.signerName: Required value: must be a valid signer name`,
      `${bundleAt(3)}.signerName: Required value`,
      `${AT}: Invalid value: "b": conflicting duplicate paths`,
      `${bundleAt(4)}.name: Invalid value: "a:": not a valid clustertrustbundlename: SUBDOMAIN`,
      `${bundleAt(4)}.path: Required value`,
    ],
  ],
  [
    "certificates without what they need",
    [
      { podCertificate: { signerName: "s", keyType: "DSA" } },
      {
        podCertificate: {
          ...{ signerName: "kubernetes.io/s", keyType: "ED25519", maxExpirationSeconds: 86_401, userAnnotations: { a: "b" } },
          ...{ keyPath: "/k", certificateChainPath: "x", credentialBundlePath: "x" },
        },
      },
      { podCertificate: { signerName: SIGNER, keyType: "ED25519", keyPath: "k", maxExpirationSeconds: 3_599 } },
      { podCertificate: { signerName: SIGNER, keyType: "ED25519", keyPath: "m" }, configMap: { name: "c" } },
    ],
    [
      `${certificateAt(0)}.signerName: Invalid value: "s": must be a fully qualified domain and path of the form 'example.com/signer-name'`,
      `${certificateAt(0)}.keyType: Unsupported value: "DSA": supported values: "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"`,
      `${certificateAt(0)}: Required value: specify at least one of credentialBundlePath, keyPath, and certificateChainPath`,
      `${certificateAt(1)}.userAnnotations: Invalid value: "a": must be a domain-prefixed key (such as "acme.io/foo")`,
      `${certificateAt(1)}.maxExpirationSeconds: Invalid value: 86401: if provided, maxExpirationSeconds must be <= 86400`,
      `${certificateAt(1)}.keyPath: Invalid value: "/k": must be a relative path`,
      `${AT}: Invalid value: "x": conflicting duplicate paths`,
      `${certificateAt(2)}.maxExpirationSeconds: Invalid value: 3599: if provided, maxExpirationSeconds must be >= 3600`,
      `${AT}.sources[3]: Forbidden: may not specify more than 1 volume type per source`,
    ],
  ],
];

const LONG_LABEL = "a".repeat(63);
const LONG_DOMAIN = [LONG_LABEL, LONG_LABEL, LONG_LABEL, LONG_LABEL].join(".");

test("signers, annotations and paths of both sources have upstream's rules", () => {
  const problemsOf = (sources: readonly JsonObject[]) =>
    problemsOfNew(kindOf("pods") as Resource, { metadata: { name: "p", namespace: "ns" }, spec: podSpec(sources) }).map((problem) =>
      problem.replace(/^.*projected\.sources\[\d\]\./, "").replace(/a lowercase RFC 1123 (?:sub)?(?:domain|label) .*/, "RULE"),
    );
  const certificate = { keyType: "ED25519", signerName: SIGNER };
  const paths = ["credentialBundlePath", "keyPath", "certificateChainPath"];
  const wrong = (path: string): readonly JsonObject[] => paths.map((name) => ({ podCertificate: { ...certificate, [name]: path } }));

  assert.deepEqual(problemsOf([{ podCertificate: { ...certificate, keyPath: "k", signerName: "A/B" } }]), [
    'podCertificate.signerName: Invalid value: "A": validating label "A": RULE',
    'podCertificate.signerName: Invalid value: "A": should be a domain with at least two segments separated by dots',
    'podCertificate.signerName: Invalid value: "B": validating label "B": RULE',
  ]);
  const longName = `${LONG_DOMAIN}/${LONG_DOMAIN}.${LONG_DOMAIN}`;
  assert.deepEqual(problemsOf([{ podCertificate: { ...certificate, keyPath: "k", signerName: longName } }]), [
    "podCertificate.signerName: Too long: may not be more than 253 bytes",
    "podCertificate.signerName: Too long: may not be more than 571 bytes",
  ]);
  assert.deepEqual(problemsOf(wrong("/x")).length, 3 + 2);
  for (const path of ["a/../b", "..x"]) {
    const said = path === "..x" ? "must not start with '..'" : "must not contain '..'";
    assert.deepEqual(
      problemsOf(wrong(path)).filter((problem) => problem.startsWith("podCertificate")),
      paths.map((name) => `podCertificate.${name}: Invalid value: "${path}": ${said}`),
    );
  }
  for (const [path, said] of [
    ["/x", "must be a relative path"],
    ["..x", "must not start with '..'"],
  ] as const)
    assert.deepEqual(problemsOf([{ clusterTrustBundle: { name: "b", path } }]), [
      `clusterTrustBundle.path: Invalid value: "${path}": ${said}`,
    ]);
  assert.deepEqual(
    problemsOf([{ podCertificate: { ...certificate, keyPath: "k", userAnnotations: { "": "", "/a": "x".repeat(262_144) } } }]),
    [
      "podCertificate.userAnnotations: Required value",
      'podCertificate.userAnnotations: Invalid value: "/a": prefix part must be non-empty',
      "podCertificate.userAnnotations: Too long: may not be more than 262144 bytes",
    ],
  );
});

for (const [title, sources, expected] of ROWS) {
  test(`a Pod with ${title} is ${expected.length === 0 ? "valid" : "rejected"}`, () => {
    const problems = problemsOfNew(kindOf("pods") as Resource, { metadata: { name: "p", namespace: "ns" }, spec: podSpec(sources) });

    assert.deepEqual(
      problems.map((problem) => problem.replace(/a lowercase RFC 1123 subdomain .*/, "SUBDOMAIN")),
      expected,
    );
  });
}
