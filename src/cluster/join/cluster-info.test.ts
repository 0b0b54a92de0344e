import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { ConfigMap } from "../../api/generated/core/v1.ts";
import { detachedSignature } from "../../api/core/v1/secret/detached-signature.ts";
import { fixedPki } from "../../pki/fixed-pki.ts";
import { checkSignature, pinExpected, pinnedAuthorities, publicKeyHashes, readClusterInfo } from "./cluster-info.ts";

const { authority, frontProxyAuthority } = fixedPki();
const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };

function kubeconfig(pem: string): string {
  return `apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: ${Buffer.from(pem).toString("base64")}\n    server: https://192.0.2.1:6443\n  name: ""\n`;
}

function info(data: Readonly<Record<string, string>>): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "cluster-info", namespace: "kube-public" }, data };
}

function signed(text: string, { id, secret } = TOKEN): Readonly<Record<string, string>> {
  return { kubeconfig: text, [`jws-kubeconfig-${id}`]: detachedSignature(text, { id, key: new TextEncoder().encode(secret) }) };
}

const TEXT = kubeconfig(authority);

const SIGNATURES: readonly (readonly [what: string, data: Readonly<Record<string, string>>, expected: string])[] = [
  ["signed with the token", signed(TEXT), "valid"],
  ["signed with another secret", signed(TEXT, { ...TOKEN, secret: "fedcba9876543210" }), "wrong"],
  ["changed after it was signed", { ...signed(TEXT), kubeconfig: TEXT.replace("192.0.2.1", "192.0.2.2") }, "wrong"],
  ["signed with another token only", signed(TEXT, { ...TOKEN, id: "zzzzzz" }), "missing"],
  ["not signed", { kubeconfig: TEXT }, "missing"],
  ["empty", {}, "missing"],
];

for (const [what, data, expected] of SIGNATURES) {
  test(`the signature of a cluster-info that is ${what} is ${expected}`, () => {
    equal(checkSignature(info(data), TOKEN), expected);
  });
}

test("address and CA are read from the kubeconfig of cluster-info", () => {
  deepEqual(readClusterInfo(info(signed(TEXT))), { server: "https://192.0.2.1:6443", authority });
});

for (const text of ["", "clusters: []", "clusters: [{cluster: {server: a}}]", "[]"]) {
  test(`a cluster-info with the kubeconfig ${JSON.stringify(text)} is rejected`, () => {
    throws(() => readClusterInfo(info({ kubeconfig: text })), /kube-public\/cluster-info/);
  });
}

test("only the pinned certificates of a bundle are trusted", () => {
  const [pin = ""] = publicKeyHashes(authority);
  const bundle = `${frontProxyAuthority}${authority}`;
  equal(pinnedAuthorities(bundle, [pin]).trim(), authority.trim());
  equal(pinnedAuthorities(bundle, [pin.replace(/^sha256:.*/, (text) => `sha256:${text.slice(7).toUpperCase()}`)]).trim(), authority.trim());
  equal(pinnedAuthorities(bundle, [`sha256:${"0".repeat(64)}`]), "");
  equal(pinnedAuthorities(bundle, publicKeyHashes(bundle)).match(/BEGIN/g)?.length, 2);
});

test("a pin is sha256 and 64 hexadecimal digits", () => {
  const [pin = ""] = publicKeyHashes(authority);
  equal(pinExpected(pin), undefined);
  for (const wrong of ["", "sha256:", pin.slice(7), pin.slice(0, -1), `sha512:${pin.slice(7)}`, `${pin}0`])
    equal(typeof pinExpected(wrong), "string");
});
