import { deepEqual, match, rejects } from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Disposables } from "../../base/disposables.ts";
import { makeTemporaryDirectory } from "../../host/files/private-files.ts";
import { becomes } from "../../testing/becomes.ts";
import { ApiServerProcess } from "../../testing/servers/api-server-process.ts";

interface RecordedEvent {
  readonly stage: string;
  readonly verb: string;
  readonly auditID: string;
  readonly requestObject: { readonly data: object };
}

const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  users: [kubernetes-admin]
  verbs: [create]
  resources: [{ group: "", resources: [configmaps] }]
`;

test("a server with an audit policy writes the requests that it selects to its log, with the Audit-ID of the response", async () => {
  await using owned = new Disposables();
  const { path } = owned.use(await makeTemporaryDirectory("k8ts-audit-"));
  const [policy, log] = [join(path, "policy.yaml"), join(path, "logs", "audit.log")];
  await writeFile(policy, POLICY);
  const flags = [`--data-dir=${join(path, "data")}`, `--audit-policy-file=${policy}`, `--audit-log-path=${log}`];
  const server = owned.use(new ApiServerProcess({ directory: path, flags }));
  await server.start();
  const client = owned.use(server.client());
  await client.ask("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "audited" }, data: { a: "1" } });
  await client.ask("GET", "/api/v1/namespaces/default/configmaps/audited");
  const causes = await client.ask("GET", "/debug/k8ts/causes?resource=configmaps&name=audited");

  const lines = async () => (await readFile(log, "utf8")).split("\n").filter((line) => line.includes('"name":"audited"'));
  await becomes(async () => (await lines()).length > 0, true);

  const [line = "", ...others] = await lines();
  const { stage, verb, auditID, requestObject } = JSON.parse(line) as RecordedEvent;
  deepEqual([stage, verb, requestObject.data, others], ["ResponseComplete", "create", { a: "1" }, []]);
  match(causes.body, new RegExp(`"requestID":"${auditID}"`));
});

test("a server does not start with an audit policy that is wrong, and says why", async () => {
  await using owned = new Disposables();
  const { path } = owned.use(await makeTemporaryDirectory("k8ts-audit-"));
  const policy = join(path, "policy.yaml");
  await writeFile(policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Everything }]\n");
  const flags = [`--data-dir=${join(path, "data")}`, `--audit-policy-file=${policy}`, `--audit-log-path=${join(path, "audit.log")}`];
  const server = owned.use(new ApiServerProcess({ directory: path, flags }));

  await rejects(server.start(), /policy\.yaml of --audit-policy-file: rules\[0\]\.level: Unsupported value: "Everything"/);
});
