import { deepEqual, equal, rejects } from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openWebhookCredentials, readAdmissionConfigFile } from "./webhook-credentials.ts";

const USERS = ["a.shop.svc", "*.example.com:8443", "*"].map((name) => `{ name: "${name}", user: { token: "of ${name}" } }`);

for (const [target, token] of [
  ["a.shop.svc:443", "of a.shop.svc"],
  ["hooks.example.com:8443", "of *.example.com:8443"],
  ["hooks.example.com:443", "of *"],
] as const) {
  test(`a webhook at ${target} gets the credentials "${token}"`, async (context) => {
    const directory = await mkdtemp(join(tmpdir(), "k8ts-webhooks-"));
    context.after(() => rm(directory, { recursive: true }));
    const file = join(directory, "kubeconfig");
    await writeFile(file, `kind: Config\nusers: [${USERS.join(", ")}]`);

    const credentials = await openWebhookCredentials(file);

    deepEqual(await credentials(target), { token });
  });
}

test("without a kubeconfig webhooks get no credentials", async () => {
  deepEqual(await (await openWebhookCredentials(undefined))("a.shop.svc:443"), {});
});

test("paths in an AdmissionConfiguration are relative to its file, which errors name", async (context) => {
  const directory = await mkdtemp(join(tmpdir(), "k8ts-webhooks-"));
  context.after(() => rm(directory, { recursive: true }));
  const file = join(directory, "admission.yaml");
  const own = "{ kind: WebhookAdmissionConfiguration, kubeConfigFile: hooks.yaml }";
  await writeFile(
    file,
    `apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: [{ name: MutatingAdmissionWebhook, configuration: ${own} }]`,
  );

  equal((await readAdmissionConfigFile(file)).webhookKubeconfigFile, join(directory, "hooks.yaml"));
  await writeFile(file, "kind: Config");
  await rejects(readAdmissionConfigFile(file), {
    message: new RegExp(`Cannot use ${file} of --admission-control-config-file: It must be`),
  });
});
