import { deepEqual, equal, notEqual } from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { keyProblem } from "../host/crypto/keys.ts";
import { fixedPki } from "./fixed-pki.ts";
import { LEAF_NAMES } from "./leaf-certificates.ts";

test("the fixed certificates are the same in every run and every process", () => {
  const pki = fixedPki(["localhost", "127.0.0.1"]);
  const all = [pki.authority, pki.frontProxyAuthority, ...LEAF_NAMES.flatMap((name) => Object.values(pki.pair(name)))];
  const digest = createHash("sha256").update(all.join("")).digest("hex");
  equal(
    digest,
    "026abfbccdd6ee8d27dcb9c897c1dd02a719f7721380db8e2698df87d7e6cc83",
    "if they were changed on purpose, put the new hash here",
  );
});

test("what was made before makes no difference", () => {
  const first = fixedPki(["a"]).pair("apiserver");
  const other = fixedPki(["b"]).pair("apiserver");
  deepEqual(fixedPki(["a"]).pair("apiserver"), first);
  notEqual(other.certificate, first.certificate);
});

test("they are good certificates, now and always, and signatures repeat", async () => {
  const pki = fixedPki();
  for (const name of LEAF_NAMES) {
    const authority = new X509Certificate(name === "front-proxy-client" ? pki.frontProxyAuthority : pki.authority);
    const leaf = new X509Certificate(pki.pair(name).certificate);
    deepEqual([leaf.checkIssued(authority), leaf.verify(authority.publicKey), keyProblem(pki.pair(name))], [true, true, undefined], name);
  }
  equal(await pki.renew(Date.UTC(2100, 0, 1)), false);
  const { signer, verifier } = pki.serviceAccounts;
  const message = Buffer.from("message");
  deepEqual(signer.sign(message), signer.sign(message));
  equal(verifier.verify(message, signer.sign(message), "ES256"), true);
});
