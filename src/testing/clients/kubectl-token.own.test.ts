/** The real kubectl and tokens of service accounts: it asks for them, and it is let in with them for as long as they are good. */
import { deepEqual, equal, match } from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { startTestApiServer } from "../api-server.ts";
import { needs } from "../needs.ts";
import type { ClientProgram } from "./client-program.ts";

const server = await startTestApiServer();
after(() => server.close());

/** kubectl as whoever the token is of. */
async function kubectlWith(token: string): Promise<ClientProgram> {
  const config = JSON.parse(await server.kubectl("config view --raw -o json"));
  const users = config.users.map(({ name }: { readonly name: string }) => ({ name, user: { token } }));
  const path = join(server.directory, "token.kubeconfig");
  await writeFile(path, JSON.stringify({ ...config, users }));
  return server.kubectl.with(`--kubeconfig=${path}`);
}

function claimsOf(token: string) {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

test("kubectl create token gives a token that kubectl auth whoami is let in with", needs("kubectl"), async () => {
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

test("a token that is bound to a Pod ends with it", needs("kubectl"), async () => {
  const kubectl = await server.inNamespace("bound-token");
  await kubectl("create serviceaccount robot");
  const spec = { serviceAccountName: "robot", containers: [{ name: "main", image: "example/worker:1" }] };
  await kubectl("create -f -", { input: { apiVersion: "v1", kind: "Pod", metadata: { name: "worker" }, spec } });
  const token = (await kubectl("create token robot --bound-object-kind=Pod --bound-object-name=worker")).trim();
  const robot = await kubectlWith(token);
  await robot("auth whoami");

  await kubectl("delete pod worker --force --grace-period=0");

  match(await robot.fails("auth whoami"), /Unauthorized|must be logged in/);
});

test("kubectl create token tells why there is none", needs("kubectl"), async () => {
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

test("others find out where the keys are", needs("kubectl"), async () => {
  const { issuer } = JSON.parse(await server.kubectl("get --raw /.well-known/openid-configuration"));
  const { keys } = JSON.parse(await server.kubectl("get --raw /openid/v1/jwks"));

  match(issuer, /^https:/);
  deepEqual([keys.length, keys[0].use, keys[0].alg], [1, "sig", "ES256"]);
});
