import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { parseBootstrapToken, signingTokenOf } from "../../api/core/v1/secret/bootstrap-token.ts";
import { fixedPki } from "../../pki/fixed-pki.ts";
import { randomToken, shownToken, TOKEN_GROUPS, TOKEN_USAGES, tokenGroupExpected, tokenSecret } from "./bootstrap-tokens.ts";
import { joinCommandFor } from "./join-command.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const PARTS = { id: "abcdef", secret: "0123456789abcdef" };
const DEFAULTS = { ttlMs: 3_600_000, usages: TOKEN_USAGES, groups: TOKEN_GROUPS };

test("random tokens are valid and differ", () => {
  const tokens = Array.from({ length: 20 }, randomToken).map(({ id, secret }) => `${id}.${secret}`);
  equal(new Set(tokens).size, 20);
  for (const token of tokens) equal(parseBootstrapToken(token) === undefined, false);
});

const TEXTS: readonly (readonly [text: string, isToken: boolean])[] = [
  ["abcdef.0123456789abcdef", true],
  ["abcdef.0123456789abcde", false],
  ["abcdeF.0123456789abcdef", false],
  ["abcdef", false],
  ["abcdef.0123456789abcdef ", false],
  ["", false],
];

for (const [text, isToken] of TEXTS) {
  test(`${JSON.stringify(text)} is ${isToken ? "a" : "no"} bootstrap token`, () => {
    deepEqual(parseBootstrapToken(text), isToken ? PARTS : undefined);
  });
}

test("the Secret of a token shows what it was created with", () => {
  const secret = tokenSecret(PARTS, { ...DEFAULTS, description: "rack 7" }, NOW_MS);
  equal(
    `${secret.metadata.namespace}/${secret.metadata.name} ${secret.type}`,
    "kube-system/bootstrap-token-abcdef bootstrap.kubernetes.io/token",
  );
  deepEqual(shownToken(secret, NOW_MS + 600_000), {
    token: "abcdef.0123456789abcdef",
    expires: "2026-01-01T01:00:00Z",
    ttlMs: 3_000_000,
    usages: ["signing", "authentication"],
    description: "rack 7",
    groups: ["system:bootstrappers:kubeadm:default-node-token"],
  });
  equal(signingTokenOf(secret, NOW_MS)?.endMs, NOW_MS + 3_600_000);
});

test("a token for signing only has no groups, and one without a lifetime never expires", () => {
  const secret = tokenSecret(PARTS, { ...DEFAULTS, ttlMs: 0, usages: ["signing"] }, NOW_MS);
  deepEqual(shownToken(secret, NOW_MS), { token: "abcdef.0123456789abcdef", usages: ["signing"], groups: [] });
});

test("groups of a token must be below system:bootstrappers", () => {
  equal(tokenGroupExpected("system:bootstrappers:kubeadm:default-node-token"), undefined);
  for (const group of ["system:masters", "system:bootstrappers", "system:bootstrappers:"])
    equal(typeof tokenGroupExpected(group), "string");
});

test("the join command has address, token and hash, and a warning if the API server listens on loopback only", () => {
  const { authority } = fixedPki();
  const reachable = joinCommandFor({ server: "https://192.0.2.1:6443", authority }, "abcdef.0123456789abcdef");
  match(
    reachable.command,
    /^k8ts join 192\.0\.2\.1:6443 --token abcdef\.0123456789abcdef --discovery-token-ca-cert-hash sha256:[0-9a-f]{64}$/,
  );
  equal(reachable.problem, undefined);
  for (const host of ["127.0.0.1", "[::1]"])
    match(
      joinCommandFor({ server: `https://${host}:6443`, authority }, "a").problem ?? "",
      /restart the cluster with --listen ADDRESS:PORT/,
    );
});
