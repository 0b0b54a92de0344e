import { deepEqual, equal } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeKey } from "../host/keys.ts";
import { sharedPki, testAuthority } from "../testing/certificates.ts";
import { DEFAULT_IDENTITY_CONFIG } from "./identity-config.ts";
import { readClientAuthorities, readIdentity } from "./identity.ts";

test("without flags the cluster trusts its own authorities and its own key, each for its purpose", async () => {
  const pki = await sharedPki();
  const authorities = await readClientAuthorities(DEFAULT_IDENTITY_CONFIG, pki);
  const identity = await readIdentity(DEFAULT_IDENTITY_CONFIG, pki, authorities);

  deepEqual(authorities, { clients: pki.authority, "front-proxy": pki.frontProxyAuthority });
  deepEqual([identity.clientAuthority, identity.anonymous, identity.bootstrapTokens], ["clients", true, true]);
  deepEqual(identity.frontProxy, {
    authority: "front-proxy",
    allowedNames: ["front-proxy-client"],
    usernameHeaders: ["x-remote-user"],
    uidHeaders: ["x-remote-uid"],
    groupHeaders: ["x-remote-group"],
    extraHeaderPrefixes: ["x-remote-extra-"],
    authorityCertificates: pki.frontProxyAuthority,
  });
  const tokens = identity.serviceAccounts;
  deepEqual(
    [tokens?.issuers, tokens?.audiences],
    [["https://kubernetes.default.svc.cluster.local"], ["https://kubernetes.default.svc.cluster.local"]],
  );
  deepEqual([tokens?.signerKeyId, tokens?.verifiers.map(({ keyId }) => keyId)], [pki.serviceAccounts.keyId, [pki.serviceAccounts.keyId]]);
});

test("authorities and keys that are given are used, and the cluster's own clients stay", async () => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-identity-"));
  const file = (name: string) => join(directory, name);
  const [clients, proxies, signing, older] = [testAuthority("c"), testAuthority("p"), makeKey(), makeKey()];
  await writeFile(file("clients"), clients.certificate);
  await writeFile(file("proxies"), proxies.certificate);
  await writeFile(file("signing"), signing.pem);
  await writeFile(file("older"), older.pem);
  const config = {
    ...DEFAULT_IDENTITY_CONFIG,
    clientCaFile: file("clients"),
    requestHeader: { ...DEFAULT_IDENTITY_CONFIG.requestHeader, clientCaFile: file("proxies") },
    serviceAccount: {
      ...DEFAULT_IDENTITY_CONFIG.serviceAccount,
      signingKeyFile: file("signing"),
      keyFiles: [file("older"), file("signing")],
    },
    apiAudiences: ["a"],
  };
  const pki = await sharedPki();

  const authorities = await readClientAuthorities(config, pki);
  const { serviceAccounts, frontProxy } = await readIdentity(config, pki, authorities);

  deepEqual(authorities, { clients: pki.authority + clients.certificate, "front-proxy": proxies.certificate });
  equal(frontProxy?.authorityCertificates, proxies.certificate);
  deepEqual(serviceAccounts?.signer.publicKey, signing.signer.publicKey);
  equal(serviceAccounts?.verifiers.length, 2);
  equal(serviceAccounts?.verifiers[0]?.keyId, serviceAccounts?.signerKeyId);
  deepEqual(serviceAccounts?.audiences, ["a"]);
  await rm(directory, { recursive: true });
});
