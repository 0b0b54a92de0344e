import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { makeKey } from "../../host/crypto/keys.ts";
import { sharedPki, testAuthority } from "../../testing/fixtures/certificates.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";
import { DEFAULT_IDENTITY_CONFIG, type IdentityConfig } from "../../config/identity-config.ts";
import { silentLogger } from "../../base/logger.ts";
import { readClientAuthorities, readIdentity, type ClientAuthorityBundles, type IdentityContext } from "./identity.ts";
import type { Pki } from "../../pki/pki.ts";

function contextOf(pki: Pki, clientAuthorities: ClientAuthorityBundles): IdentityContext {
  return { pki, clientAuthorities, serverAuthority: pki.authority, log: silentLogger };
}

test("without flags the cluster trusts its own CAs and its own key, each for its purpose", async () => {
  const pki = await sharedPki();
  const authorities = await readClientAuthorities(DEFAULT_IDENTITY_CONFIG, pki);
  const identity = await readIdentity(DEFAULT_IDENTITY_CONFIG, contextOf(pki, authorities));

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

test("configured CAs and keys are used, and the cluster's own clients stay authenticated", async () => {
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
  const { serviceAccounts, frontProxy } = await readIdentity(config, contextOf(pki, authorities));

  deepEqual(authorities, { clients: pki.authority + clients.certificate, "front-proxy": proxies.certificate });
  equal(frontProxy?.authorityCertificates, proxies.certificate);
  deepEqual(serviceAccounts?.signer.publicKey, signing.signer.publicKey);
  equal(serviceAccounts?.verifiers.length, 2);
  equal(serviceAccounts?.verifiers[0]?.keyId, serviceAccounts?.signerKeyId);
  deepEqual(serviceAccounts?.audiences, ["a"]);
  await rm(directory, { recursive: true });
});

test("a CA of both clients and front proxies requires allowed names", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-identity-");
  const [shared, pki] = [testAuthority("shared"), await sharedPki()];
  const file = join(directory.path, "ca.crt");
  await writeFile(file, `one for all\n${shared.certificate}`);
  const read = (allowedNames: readonly string[], clientCaFile: string) =>
    readClientAuthorities(
      {
        ...DEFAULT_IDENTITY_CONFIG,
        clientCaFile,
        requestHeader: { ...DEFAULT_IDENTITY_CONFIG.requestHeader, clientCaFile: file, allowedNames },
      },
      pki,
    );
  const others = join(directory.path, "others.crt");
  await writeFile(others, testAuthority("shared").certificate);

  await rejects(read([], file), /overlapping certificates; --requestheader-allowed-names must be specified/);
  equal((await read(["proxy"], file))["front-proxy"].includes(shared.certificate), true);
  equal((await read([], others))["front-proxy"].includes(shared.certificate), true);
});

test("token files and issuers of flags or of a file are used; a problem is reported with its file and flag", async () => {
  await using directory = await makeTemporaryDirectory("k8ts-identity-");
  const file = async (name: string, text: string) => {
    await writeFile(join(directory.path, name), text);
    return join(directory.path, name);
  };
  const pki = await sharedPki();
  const context = contextOf(pki, await readClientAuthorities(DEFAULT_IDENTITY_CONFIG, pki));
  const read = (config: Partial<IdentityConfig>) => readIdentity({ ...DEFAULT_IDENTITY_CONFIG, ...config }, context);
  const issuer = { url: "https://issuer.example.com", audiences: ["me"] };
  const claimMappings = { username: { claim: "sub", prefix: "" } };
  const configuration = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "AuthenticationConfiguration",
    jwt: [{ issuer, claimMappings }],
    anonymous: { enabled: false },
  };
  const oidc = {
    issuerUrl: issuer.url,
    clientId: "me",
    usernameClaim: "sub",
    groupsPrefix: "",
    requiredClaims: {},
    signingAlgorithms: ["RS256"],
  };
  const broken = await file("broken", "only-a-token");

  const ofFile = await read({ tokenAuthFile: await file("tokens", 'secret,ann,1,"a,b"\n') });
  const described = await read({ authenticationConfigFile: await file("config", JSON.stringify(configuration)) });
  const flagged = await read({ oidc });

  deepEqual(ofFile.staticTokens?.get("secret"), { name: "ann", uid: "1", groups: ["a", "b"] });
  deepEqual(
    [described.anonymous, described.openIdIssuers.map(({ url }) => url), described.openId === undefined],
    [false, [issuer.url], false],
  );
  deepEqual([flagged.openIdIssuers.map(({ usernamePrefix }) => usernamePrefix), ofFile.openId], [[`${issuer.url}#`], undefined]);
  await rejects(read({ tokenAuthFile: broken }), (error: Error) => {
    equal(error.message.startsWith(`Cannot use ${broken}: `) && error.message.endsWith("set --token-auth-file to another file"), true);
    return !error.message.includes("only-a-token");
  });
});
