import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { readAdmissionConfiguration } from "./admission-configuration.ts";

const read = (text: string, files: Readonly<Record<string, string>> = {}) =>
  readAdmissionConfiguration(new TextEncoder().encode(text), (path) => Promise.resolve(new TextEncoder().encode(files[path] ?? "")));

const HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n";
const WEBHOOKS = `- name: ValidatingAdmissionWebhook
  configuration: { apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration, kubeConfigFile: hooks.yaml }
`;

test("an AdmissionConfiguration names the kubeconfig of webhooks", async () => {
  deepEqual(await read(HEAD + WEBHOOKS), { webhookKubeconfigFile: "hooks.yaml" });
});

test("the configuration of PodSecurity may be in a file of its own, and has upstream's defaults", async () => {
  const own = "kind: PodSecurityConfiguration\ndefaults: { enforce: baseline, warn-version: v1.30 }\nexemptions: { namespaces: [ops] }";

  const { podSecurity } = await read(`${HEAD}- { name: PodSecurity, path: pods.yaml }`, { "pods.yaml": own });

  deepEqual(podSecurity, {
    defaults: {
      enforce: "baseline",
      enforceVersion: "latest",
      audit: "privileged",
      auditVersion: "latest",
      warn: "privileged",
      warnVersion: "v1.30",
    },
    exemptions: { usernames: [], runtimeClasses: [], namespaces: ["ops"] },
  });
});

for (const { text, message } of [
  { text: "kind: Config", message: /must be an AdmissionConfiguration/ },
  { text: `${HEAD}- { name: LimitRanger, configuration: {} }`, message: /LimitRanger has no configuration/ },
  {
    text: `${HEAD}${WEBHOOKS}${WEBHOOKS.replace("Validating", "Mutating").replace("hooks.yaml", "other.yaml")}`,
    message: /must name the same kubeConfigFile/,
  },
]) {
  test(`an AdmissionConfiguration is refused: ${message.source}`, async () => {
    await rejects(read(text), { message });
  });
}
