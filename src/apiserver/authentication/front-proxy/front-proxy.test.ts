import { deepEqual, equal, notEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { AuthenticationError } from "../../framework/authentication.ts";
import type { FrontProxy } from "../../framework/identity.ts";
import type { User } from "../../framework/request.ts";
import { asHeader, certificateOf, contextOf, requestShowing, type CertificateOptions, type RequestCredentials } from "../testing/shown.ts";
import { frontProxyHeaders } from "./front-proxy.ts";

const FRONT_PROXY: FrontProxy = {
  authority: "front-proxy",
  allowedNames: ["front-proxy-client"],
  usernameHeaders: ["x-remote-user", "x-forwarded-user"],
  uidHeaders: ["x-remote-uid"],
  groupHeaders: ["x-remote-group", "x-forwarded-group"],
  extraHeaderPrefixes: ["x-remote-extra-"],
  authorityCertificates: "",
};

function authenticatorOf(frontProxy: FrontProxy = FRONT_PROXY) {
  const authenticator = frontProxyHeaders(contextOf({ clientAuthority: "clients", frontProxy }));
  if (authenticator === undefined) throw new Error("A front proxy was set");
  return (shown: RequestCredentials) => authenticator.authenticate(requestShowing(shown)) as User | undefined;
}

function proxy(options: CertificateOptions = {}) {
  return certificateOf({ commonName: "front-proxy-client", authorities: ["front-proxy"], ...options });
}

const users: readonly [title: string, headers: NonNullable<RequestCredentials["headers"]>, user: User | undefined][] = [
  ["a name is enough", { "x-remote-user": "bob" }, { name: "bob", groups: [] }],
  ["a missing name yields no user", { "x-remote-group": "system:masters", "x-remote-uid": "1" }, undefined],
  ["an empty name is none", { "x-remote-user": "", "x-remote-group": "system:masters" }, undefined],
  ["the first non-empty header is the user name", { "x-remote-user": "", "x-forwarded-user": "eve" }, { name: "eve", groups: [] }],
  ["of several names the first counts", { "x-remote-user": ["bob", "eve"] }, { name: "bob", groups: [] }],
  ["the UID is taken along", { "x-remote-user": "bob", "x-remote-uid": "7" }, { name: "bob", uid: "7", groups: [] }],
  [
    "each header is one group, whatever its content",
    { "x-remote-user": "bob", "x-remote-group": ["a, b", "", "c"], "x-forwarded-group": "d" },
    { name: "bob", groups: ["a, b", "c", "d"] },
  ],
  [
    "keys of extra fields are decoded, and values are not divided",
    { "x-remote-user": "bob", "x-remote-extra-acme.io%2fx": ["1", "2, 3"], "x-remote-extra-a%zz": "", "x-remote-extra-__proto__": "4" },
    {
      name: "bob",
      groups: [],
      extra: Object.fromEntries([
        ["acme.io/x", ["1", "2, 3"]],
        ["a%zz", [""]],
        ["__proto__", ["4"]],
      ]),
    },
  ],
  [
    "names are decoded as UTF-8 unless invalid",
    { "x-remote-user": asHeader("jürgen"), "x-remote-group": "\u00ff" },
    { name: "jürgen", groups: ["\u00ff"] },
  ],
];

for (const [title, headers, user] of users) {
  test(`of the headers of a front proxy, ${title}`, () => {
    deepEqual(authenticatorOf()({ certificate: proxy(), headers }), user);
  });
}

const CLAIM = { "x-remote-user": "bob", "x-remote-group": "system:masters" };

test("front-proxy headers are ignored without a certificate and from clients with a client certificate", () => {
  equal(authenticatorOf()({ headers: CLAIM }), undefined);
  equal(authenticatorOf()({ certificate: proxy({ authorities: ["clients"] }), headers: CLAIM }), undefined);
});

const impostors: readonly [title: string, certificate: ReturnType<typeof proxy>][] = [
  ["a certificate of another authority", proxy({ authorities: ["others"] })],
  ["a certificate that no authority signed", certificateOf({ commonName: "front-proxy-client" })],
  ["a certificate of the proxies' authority with another name", proxy({ commonName: "other" })],
  ["a certificate of the proxies' authority without a name", proxy({ commonName: "" })],
  ["a certificate that has ended", proxy({ fromMs: 0, toMs: 1 })],
];

for (const [title, certificate] of impostors) {
  test(`front-proxy headers are ignored from ${title}`, () => {
    throws(() => authenticatorOf()({ certificate, headers: CLAIM }), AuthenticationError);
  });
}

test("without allowed names every certificate of the front-proxy CA, and no other, is accepted as a proxy", () => {
  const authenticate = authenticatorOf({ ...FRONT_PROXY, allowedNames: [] });

  equal(authenticate({ certificate: proxy({ commonName: "other" }), headers: CLAIM })?.name, "bob");
  throws(() => authenticate({ certificate: proxy({ authorities: ["others"] }), headers: CLAIM }), AuthenticationError);
  equal(authenticate({ certificate: proxy({ authorities: ["clients"] }), headers: CLAIM }), undefined);
});

test("with one CA for proxies and clients, only certificates with an allowed name are proxies and all others are clients", () => {
  const authenticate = authenticatorOf();
  const authorities = ["clients", "front-proxy"];

  equal(authenticate({ certificate: proxy({ authorities }), headers: CLAIM })?.name, "bob");
  throws(() => authenticate({ certificate: proxy({ authorities, commonName: "ann" }), headers: CLAIM }), AuthenticationError);
});

test("a front-proxy user is the same object in each request", () => {
  const authenticate = authenticatorOf();
  const show = () => authenticate({ certificate: proxy(), headers: CLAIM });

  equal(show(), show());
});

test("front-proxy users with large data are evicted from the cache before the entry limit is reached", () => {
  const authenticate = authenticatorOf();
  const show = (headers: NonNullable<RequestCredentials["headers"]>) => authenticate({ certificate: proxy(), headers });
  const before = show(CLAIM);

  for (let index = 0; index < 100; index++) show({ "x-remote-user": `${index}`, "x-remote-group": "g".repeat(100_000) });

  deepEqual(show(CLAIM), before);
  notEqual(show(CLAIM), before);
});
