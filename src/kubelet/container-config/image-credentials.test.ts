import assert from "node:assert/strict";
import { test } from "node:test";
import type { Secret } from "../../api/generated/core/v1.ts";
import { encodeText } from "../../api/core/v1/secret/contents.ts";
import { credentialsFor } from "./image-credentials.ts";
import { aSecret } from "./testing/views.ts";

/** Registries whose password equals the registry name. */
function secretFor(...registries: readonly string[]): Secret {
  const auths = Object.fromEntries(registries.map((registry) => [registry, { auth: encodeText(`user:${registry}`) }]));
  return aSecret("pull", { ".dockerconfigjson": JSON.stringify({ auths }) }, "kubernetes.io/dockerconfigjson");
}

function passwordsFor(image: string, ...secrets: readonly Secret[]): readonly (string | undefined)[] {
  return credentialsFor(image, secrets).map(({ password }) => password);
}

const rows: readonly (readonly [registry: string, image: string, matches: boolean])[] = [
  ["registry.example", "registry.example/team/app:1", true],
  ["registry.example", "other.example/team/app", false],
  ["https://registry.example", "registry.example/app", true],
  ["http://registry.example/v1/", "registry.example/app", true],
  ["https://registry.example/v2/", "registry.example/app", true],
  ["registry.example:5000", "registry.example:5000/app@sha256:00", true],
  ["registry.example:5000", "registry.example/app", false],
  ["registry.example", "registry.example:5000/app", false],
  ["registry.example/team", "registry.example/team/app", true],
  ["registry.example/team", "registry.example/other/app", false],
  ["registry.example/team/app", "registry.example/team/app:latest", true],
  ["*.example", "registry.example/app", true],
  ["*.example", "a.registry.example/app", false],
  ["*.*.example", "a.registry.example/app", true],
  ["reg*.ex?mple", "registry.example/app", true],
  ["r*x*y.example", "registry.example/app", false],
  ["localhost:5000", "localhost:5000/app", true],
  ["https://index.docker.io/v1/", "busybox", true],
  ["https://index.docker.io/v1/", "team/app:2", true],
  ["https://index.docker.io/v1/", "docker.io/library/busybox", true],
  ["https://index.docker.io/v1/", "index.docker.io/team/app", true],
  ["https://index.docker.io/v1/", "registry.example/app", false],
  ["docker.io", "busybox:1.36", true],
  ["docker.io/team", "team/app", true],
  ["docker.io/team", "busybox", false],
];

for (const [registry, image, matches] of rows) {
  test(`credentials for ${registry} ${matches ? "match" : "do not match"} ${image}`, () => {
    assert.deepEqual(passwordsFor(image, secretFor(registry)), matches ? [registry] : []);
  });
}

test("the most specific credentials come first, and all matches are returned", () => {
  const passwords = passwordsFor(
    "registry.example/team/app",
    secretFor("registry.example", "registry.example/team"),
    secretFor("registry.example/team/app"),
  );
  assert.deepEqual(passwords, ["registry.example/team/app", "registry.example/team", "registry.example"]);
});

test("a password may contain colons, and username and password may be separate fields", () => {
  const own = aSecret(
    "old",
    { ".dockercfg": JSON.stringify({ "a.example": { username: "u", password: "p" } }) },
    "kubernetes.io/dockercfg",
  );
  assert.deepEqual(credentialsFor("b.example:1/app", [secretFor("b.example:1")]), [{ username: "user", password: "b.example:1" }]);
  assert.deepEqual(credentialsFor("a.example/app", [own]), [{ username: "u", password: "p" }]);
});

test("auth without base64 padding is decoded", () => {
  const auths = { "a.example": { auth: encodeText("u:words").replaceAll("=", "") } };
  const secret = aSecret("pull", { ".dockerconfigjson": JSON.stringify({ auths }) }, "kubernetes.io/dockerconfigjson");
  assert.deepEqual(passwordsFor("a.example/app", secret), ["words"]);
});

test("secrets that are no pull secrets, or malformed, are skipped", () => {
  const broken = [
    aSecret("a", { ".dockerconfigjson": "{" }, "kubernetes.io/dockerconfigjson"),
    aSecret("b", { ".dockerconfigjson": '{"auths":[]}' }, "kubernetes.io/dockerconfigjson"),
    aSecret("c", { ".dockerconfigjson": '{"auths":{"a.example":{"auth":"!"},"b.example":3}}' }, "kubernetes.io/dockerconfigjson"),
    aSecret("d", { ".dockerconfigjson": '{"auths":{"a.example":{"auth":"dQ=="}}}' }, "kubernetes.io/dockerconfigjson"),
    aSecret("e", { ".dockerconfigjson": '{"auths":{"a.example":{"username":"u"}}}' }, "Opaque"),
    aSecret("f", {}, "kubernetes.io/dockercfg"),
  ];
  assert.deepEqual(passwordsFor("a.example/app", ...broken, secretFor("a.example")), ["a.example"]);
});
