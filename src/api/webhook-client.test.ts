import assert from "node:assert/strict";
import test from "node:test";
import { mutatingWebhookConfigurations } from "./admissionregistration.k8s.io/v1/mutating-webhook-configuration.ts";
import { validatingWebhookConfigurations } from "./admissionregistration.k8s.io/v1/validating-webhook-configuration.ts";
import type { JsonObject } from "./machinery/object.ts";
import type { Resource } from "./machinery/resource.ts";
import { problems, problemsOfNew } from "./testing/kind.ts";
import { validateWebhookService, validateWebhookUrl } from "./webhook-client.ts";

const KINDS: readonly Resource[] = [validatingWebhookConfigurations, mutatingWebhookConfigurations];

function webhookAt(clientConfig: JsonObject) {
  return { webhooks: [{ name: "a.example.com", clientConfig, sideEffects: "None", admissionReviewVersions: ["v1"] }] };
}

/** Path of the first webhook of a configuration. */
function inWebhook(problem: string): string {
  return `webhooks[0].clientConfig.${problem}`;
}

const FORM = "; desired format: https://host[/path]";

const URLS: readonly [url: string, problems: readonly string[]][] = [
  ["https://x.y/z", []],
  ["HTTPS://[::1]:443/a%20b", []],
  ["http://x", [`url: Invalid value: "http": 'https' is the only allowed URL scheme${FORM}`]],
  ["", [`url: Invalid value: "": 'https' is the only allowed URL scheme${FORM}`, `url: Invalid value: "": host must be specified${FORM}`]],
  [
    "https://u:p%40@x?q=1#f%20",
    [
      'url: Invalid value: "u:p%40": user information is not permitted in the URL',
      'url: Invalid value: "f ": fragments are not permitted in the URL',
      'url: Invalid value: "q=1": query parameters are not permitted in the URL',
    ],
  ],
  ["https://x:a", [`url: Required value: url must be a valid URL: parse "https://x:a": invalid port ":a" after host${FORM}`]],
];

for (const [url, expected] of URLS) {
  test(`a webhook URL ${JSON.stringify(url)} is ${expected.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problems(validateWebhookUrl(url, "url")), expected);
    for (const kind of KINDS) assert.deepEqual(problemsOfNew(kind, webhookAt({ url })), expected.map(inWebhook));
  });
}

const SEGMENT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const PATHS: readonly [path: string, problems: readonly string[]][] = [
  ["", []],
  ["/", []],
  ["/a/b/", []],
  ["//", ['service.path: Invalid value: "//": segment[0] may not be empty']],
  ["a", ["service.path: Invalid value: \"a\": must start with a '/'", 'service.path: Invalid value: "a": segment[0] may not be empty']],
  ["/a//b", ['service.path: Invalid value: "/a//b": segment[1] may not be empty']],
  ["/A", [`service.path: Invalid value: "/A": segment[0]: ${SEGMENT}`]],
];

for (const [path, expected] of PATHS) {
  test(`a webhook service path ${JSON.stringify(path)} is ${expected.length === 0 ? "valid" : "rejected"}`, () => {
    const service = { namespace: "a", name: "b", path, port: 443 };

    assert.deepEqual(problems(validateWebhookService(service, "service")), expected);
    for (const kind of KINDS) assert.deepEqual(problemsOfNew(kind, webhookAt({ service })), expected.map(inWebhook));
  });
}

test("a webhook service requires a namespace, a name and a valid port", () => {
  assert.deepEqual(problems(validateWebhookService({ namespace: "", name: "" }, "service")), [
    "service.name: Required value",
    "service.namespace: Required value",
    "service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
  ]);
});
