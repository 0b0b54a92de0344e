/** Which lookups use the cache, and which fall back to the store. */
import { EvaluationTurns } from "../../../cel/program/evaluation-turns.ts";
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { silentLogger } from "../../../base/logger.ts";
import type { Verifier } from "../../../base/crypto/signing.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import type { TokenAuthenticator } from "../../framework/authentication.ts";
import type { KindName, Objects } from "../../framework/objects.ts";
import type { ObjectName } from "../../framework/storage/object-key.ts";
import { serviceAccountTokenAuthenticator } from "./service-account-token.ts";
import { AUDIENCE, ISSUER, KEY, OTHER_KEY, signed, TOKENS } from "./testing/token-server.ts";
import { boundPayload } from "../../shared/bound-claims.ts";

const POD = { kind: "pods", name: "p" };
const ACCOUNT = { kind: "serviceaccounts", name: "a" };

/** Objects in two places: the cache, which may lag, and the store. */
class TwoPlaces {
  readonly memory = new Map<string, string>();
  readonly store = new Map<string, string>();
  readonly asked: string[] = [];

  put(place: "memory" | "store" | "both", { kind, name }: typeof POD, uid: string): this {
    if (place !== "store") this.memory.set(`${kind}/${name}`, uid);
    if (place !== "memory") this.store.set(`${kind}/${name}`, uid);
    return this;
  }

  readonly objects = {
    load: ({ plural }: KindName) => {
      this.asked.push(`load ${plural}`);
      return Promise.resolve();
    },
    cached: ({ plural }: KindName, { name }: ObjectName) => objectOf(name, this.memory.get(`${plural}/${name}`)),
    getExact: ({ plural }: KindName, { name }: ObjectName) => {
      this.asked.push(`get ${plural}`);
      return Promise.resolve(objectOf(name, this.store.get(`${plural}/${name}`)));
    },
  } as Objects;
}

function objectOf(name: string, uid: string | undefined): KubeObject | undefined {
  return uid === undefined ? undefined : ({ metadata: { name, namespace: "n", uid } } as KubeObject);
}

function authenticatorOf({ objects }: TwoPlaces, verifier: Verifier = KEY.verifier): TokenAuthenticator {
  const serviceAccounts = { ...TOKENS, verifiers: [verifier] };
  const identity = { anonymous: true, bootstrapTokens: false, openIdIssuers: [], serviceAccounts };
  const made = serviceAccountTokenAuthenticator({ identity, objects, evaluations: new EvaluationTurns(), clock, log: silentLogger });
  if (made === undefined) throw new Error("The authenticator does not exist");
  return made;
}

const clock = virtualClock();
const TOKEN = signed(
  boundPayload({
    issuer: ISSUER,
    audiences: [AUDIENCE],
    id: "j",
    nowMs: clock.now(),
    expirationSeconds: 3_600,
    namespace: "n",
    serviceAccount: { name: "a", uid: "1" },
    pod: { name: "p", uid: "2" },
  }),
);

test("objects that a token is bound to are read from the store once, and later synchronously from the cache", async () => {
  const places = new TwoPlaces().put("both", ACCOUNT, "1").put("both", POD, "2");
  const authenticator = authenticatorOf(places);

  const first = await authenticator.authenticateToken(TOKEN, [AUDIENCE]);
  const second = authenticator.authenticateToken(TOKEN, [AUDIENCE]);

  deepEqual(places.asked, ["load serviceaccounts", "load pods"]);
  equal(second instanceof Promise, false);
  deepEqual(second, first);
});

test("a token's signature is verified once, and its user is the same object each time", async () => {
  let checks = 0;
  const verify: Verifier["verify"] = (...all) => {
    checks++;
    return KEY.verifier.verify(...all);
  };
  const authenticator = authenticatorOf(new TwoPlaces().put("both", ACCOUNT, "1").put("both", POD, "2"), { ...KEY.verifier, verify });

  const first = await authenticator.authenticateToken(TOKEN, [AUDIENCE]);
  const second = await authenticator.authenticateToken(TOKEN, [AUDIENCE]);

  equal(checks, 1);
  equal(first?.user, second?.user);
});

for (const [what, places] of [
  ["has not heard of yet", new TwoPlaces().put("both", ACCOUNT, "1").put("store", POD, "2")],
  ["still has the predecessor of", new TwoPlaces().put("both", ACCOUNT, "1").put("memory", POD, "old").put("store", POD, "2")],
] as const) {
  test(`a Pod that the cache ${what} is read from the store before its token is rejected`, async () => {
    const found = await authenticatorOf(places).authenticateToken(TOKEN, [AUDIENCE]);

    equal(found?.user.name, "system:serviceaccount:n:a");
    deepEqual(places.asked, ["load serviceaccounts", "load pods", "get pods"]);
  });
}

test("a token without a valid signature causes no lookup", () => {
  const places = new TwoPlaces();
  const authenticator = authenticatorOf(places);

  equal(authenticator.authenticateToken(signed({ iss: "https://other" }), [AUDIENCE]), undefined);
  try {
    void authenticator.authenticateToken(signed({ iss: ISSUER }, OTHER_KEY), [AUDIENCE]);
  } catch (error) {
    equal((error as Error).message, "invalid signature, no keys found");
  }
  deepEqual(places.asked, []);
});
