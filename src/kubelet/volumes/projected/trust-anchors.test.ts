import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { ClusterTrustBundle } from "../../../api/generated/certificates.k8s.io/v1beta1.ts";
import { anAuthority } from "../../../api/testing/certificates.ts";
import { trustAnchors } from "./trust-anchors.ts";

const [ONE, TWO, THREE] = [anAuthority(1n), anAuthority(2n), anAuthority(3n)];
const SIGNER = "example.com/s";

function bundle(
  name: string,
  trustBundle: string,
  more: { signerName?: string; labels?: Record<string, string> } = {},
): ClusterTrustBundle {
  const { signerName, labels = {} } = more;
  return {
    apiVersion: "certificates.k8s.io/v1beta1",
    kind: "ClusterTrustBundle",
    metadata: { name, labels },
    spec: { trustBundle, ...(signerName === undefined ? {} : { signerName }) },
  };
}

const BUNDLES = [
  bundle("plain", `comment\n${ONE}${TWO}`),
  bundle("example.com:s:a", ONE, { signerName: SIGNER, labels: { tier: "live" } }),
  bundle("example.com:s:b", ONE + THREE, { signerName: SIGNER, labels: { tier: "old" } }),
  bundle("example.com:t:a", TWO, { signerName: "example.com/t" }),
];

/** Which of the authorities the file has, in any order. */
function contents(source: Parameters<typeof trustAnchors>[0], bundles: readonly ClusterTrustBundle[] = BUNDLES): readonly number[] {
  const pem = trustAnchors(source, bundles);
  const found = [ONE, TWO, THREE].flatMap((authority, index) => (pem.includes(authority) ? [index + 1] : []));
  equal(
    pem.length,
    found.map((number) => [ONE, TWO, THREE][number - 1]?.length ?? 0).reduce((sum, length) => sum + length, 0),
  );
  return found;
}

test("a bundle is selected by its name, or by its signer and labels, and each certificate occurs once", () => {
  deepEqual(contents({ name: "plain", path: "p" }), [1, 2]);
  deepEqual(contents({ signerName: SIGNER, labelSelector: {}, path: "p" }), [1, 3]);
  deepEqual(contents({ signerName: SIGNER, labelSelector: { matchLabels: { tier: "live" } }, path: "p" }), [1]);
});

test("the order of certificates does not depend on that of the bundles", () => {
  const source = { signerName: SIGNER, labelSelector: {}, path: "p" };

  equal(trustAnchors(source, BUNDLES), trustAnchors(source, BUNDLES.toReversed()));
});

test("a source that selects nothing fails unless it is optional; without a selector nothing is selected", () => {
  for (const source of [
    { name: "none", path: "p" },
    { signerName: SIGNER, path: "p" },
    { signerName: SIGNER, labelSelector: { matchLabels: { tier: "none" } }, path: "p" },
  ]) {
    throws(() => trustAnchors(source, BUNDLES), { name: "MissingSourceError" });
    equal(trustAnchors({ ...source, optional: true }, BUNDLES), "");
  }
});
