/** The real kubectl and service account tokens: it requests them, and authenticates with them while they are valid. */
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApiServer } from "../../src/testing/servers/api-server.ts";
import { needs } from "../../src/testing/needs.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { kubectlOf, tokenOf } from "./identities.ts";
import { aNode, aPod } from "../../src/testing/clients/manifests.ts";

const server = await startTestApiServer();
after(() => server.close());

const UNAUTHORIZED = "error: You must be logged in to the server (Unauthorized)\n";

/** kubectl authenticated by the token. */
function kubectlWith(token: string): Promise<ClientProgram> {
  return kubectlOf(server, "token", { token });
}

function claimsOf(token: string) {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

test("kubectl create token returns a token that kubectl auth whoami accepts", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("create-token");
  await kubectl("create serviceaccount robot");

  const token = (await kubectl("create token robot --duration=20m")).trim();

  const { exp, iat } = claimsOf(token);
  equal(exp - iat, 1_200);
  const { status } = JSON.parse(await (await kubectlWith(token))("auth whoami -o json"));
  equal(status.userInfo.username, "system:serviceaccount:create-token:robot");
  deepEqual(status.userInfo.groups, ["system:serviceaccounts", "system:serviceaccounts:create-token", "system:authenticated"]);
  match(status.userInfo.extra["authentication.kubernetes.io/credential-id"][0], /^JTI=/);
});

test("a token has the API audience and a lifetime of an hour by default", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("audience");
  await kubectl("create serviceaccount robot");

  const usual = claimsOf(await tokenOf(kubectl, "robot"));
  const token = await tokenOf(kubectl, "robot", "--audience=vault --audience=bank");

  deepEqual([usual.exp - usual.iat, usual.aud], [3_600, [usual.iss]]);
  deepEqual(claimsOf(token).aud, ["vault", "bank"]);
  equal(await (await kubectlWith(token)).fails("auth whoami"), UNAUTHORIZED);
});

/** Objects that a token may be bound to, and the flags for it. */
const BOUND: Readonly<Record<string, { readonly object: object; readonly remove: string }>> = {
  Pod: { object: aPod("it", { serviceAccountName: "robot" }), remove: "delete pod it --force --grace-period=0" },
  Secret: { object: { apiVersion: "v1", kind: "Secret", metadata: { name: "it" } }, remove: "delete secret it" },
  Node: { object: aNode("it"), remove: "delete node it" },
};

for (const [kind, { object, remove }] of Object.entries(BOUND)) {
  test(`a token bound to a ${kind} is valid until that is deleted`, needs("kubectl"), async () => {
    const kubectl = await server.inNamespace(`bound-to-${kind.toLowerCase()}`);
    await kubectl("create serviceaccount robot");
    const uid = JSON.parse(await kubectl("create -o json -f -", { input: object })).metadata.uid;
    const token = await tokenOf(kubectl, "robot", `--bound-object-kind=${kind} --bound-object-name=it --bound-object-uid=${uid}`);
    const robot = await kubectlWith(token);
    match(await robot("auth whoami"), /^Username +system:serviceaccount:bound-to-\w+:robot$/m);

    await kubectl(remove);

    deepEqual(claimsOf(token)["kubernetes.io"][kind.toLowerCase()], { name: "it", uid });
    equal(await robot.fails("auth whoami"), UNAUTHORIZED);
  });
}

test("a token is valid until its service account is deleted, also if one of the same name is created again", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("gone-account");
  await kubectl("create serviceaccount robot");
  const robot = await kubectlWith(await tokenOf(kubectl, "robot"));
  await robot("auth whoami");

  await kubectl("delete serviceaccount robot");
  equal(await robot.fails("get pods"), UNAUTHORIZED);
  await kubectl("create serviceaccount robot");
  equal(await robot.fails("get pods"), UNAUTHORIZED);
});

test("kubectl create token reports why it fails", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("no-token");
  await kubectl("create serviceaccount robot");
  await kubectl("create secret generic key");

  const rows = [
    ["create token ghost", 'error: failed to create token: serviceaccounts "ghost" not found\n'],
    ["create token robot --bound-object-kind=Pod --bound-object-name=ghost", 'error: failed to create token: pods "ghost" not found\n'],
    [
      "create token robot --bound-object-kind=Secret --bound-object-name=key --bound-object-uid=x",
      /the UID in the bound object reference \(x\)/,
    ],
    ["create token robot --duration=5m", /may not specify a duration less than 10 minutes/],
  ] as const;
  for (const [line, message] of rows) {
    const said = await kubectl.fails(line);
    if (typeof message === "string") equal(said, message);
    else match(said, message);
  }
});

test("the OIDC discovery documents of the issuer are readable", needs("kubectl"), async () => {
  const { issuer } = JSON.parse(await server.kubectl("get --raw /.well-known/openid-configuration"));
  const { keys } = JSON.parse(await server.kubectl("get --raw /openid/v1/jwks"));

  match(issuer, /^https:/);
  deepEqual([keys.length, keys[0].use, keys[0].alg], [1, "sig", "ES256"]);
});
