import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { ISSUER, KEY, OTHER_KEY, startTokenServer } from "../../authentication/service-account-token/testing/token-server.ts";
import { startServer } from "../../testing/server.ts";

const CONFIGURATION = "/.well-known/openid-configuration";
const KEYS = "/openid/v1/jwks";

test("the OpenID configuration names the issuer and the JWKS URL", async () => {
  await using server = await startTokenServer({ jwksUri: "https://keys.example/jwks" });

  const { code, headers, text } = await server.call("GET", CONFIGURATION);

  equal(code, 200);
  deepEqual([headers["content-type"], headers["cache-control"]], ["application/json", "public, max-age=3600"]);
  equal(
    text,
    `{"issuer":"${ISSUER}","jwks_uri":"https://keys.example/jwks","response_types_supported":["id_token"],"subject_types_supported":["public"],"id_token_signing_alg_values_supported":["ES256"]}`,
  );
});

test("the JWKS lists each key with its id and algorithm", async () => {
  await using server = await startTokenServer({ verifiers: [KEY.verifier, OTHER_KEY.verifier] });

  const { code, headers, text, body } = await server.call("GET", KEYS);

  equal(code, 200);
  deepEqual([headers["content-type"], headers["cache-control"]], ["application/jwk-set+json", "public, max-age=3600"]);
  const { x, y } = KEY.verifier.jwk;
  const first = `{"use":"sig","kty":"EC","kid":"${KEY.verifier.keyId}","crv":"P-256","alg":"ES256","x":"${x}","y":"${y}"}`;
  equal(text.startsWith(`{"keys":[${first},`), true, text);
  equal(body.keys[1].kid, OTHER_KEY.verifier.keyId);
});

test("the JWKS URL defaults to a path below the issuer", async () => {
  await using server = await startTokenServer();

  equal((await server.call("GET", CONFIGURATION)).body.jwks_uri, `${ISSUER}/openid/v1/jwks`);
});

test("the OpenID documents are read-only and have one content type each", async () => {
  await using server = await startTokenServer();

  const refused = await server.call("GET", KEYS, undefined, { accept: "application/json" });

  deepEqual([refused.code, refused.body.message], [406, "406: Not Acceptable\n\nAvailable representations: application/jwk-set+json"]);
  equal((await server.call("GET", `${KEYS}/`)).code, 200);
  equal((await server.call("POST", KEYS, {})).code, 405);
});

for (const [what, settings] of [
  ["is a name", { issuers: ["kubernetes/serviceaccount"] }],
  ["is not HTTPS", { issuers: ["http://issuer.example"] }],
  ["has a query", { issuers: ["https://issuer.example?a=b"] }],
  ["has a fragment", { issuers: ["https://issuer.example#a"] }],
  ["has a JWKS URL that is not HTTPS", { jwksUri: "http://keys.example" }],
] as const) {
  test(`the OpenID documents are not served for an issuer that ${what}`, async () => {
    await using server = await startTokenServer(settings);

    deepEqual([(await server.call("GET", CONFIGURATION)).code, (await server.call("GET", KEYS)).code], [404, 404]);
  });
}

test("the OpenID documents are not served without a signing key", async () => {
  await using server = await startServer();

  equal((await server.call("GET", CONFIGURATION)).code, 404);
});
