import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import type { Client } from "../../client/client.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { TokenSpec } from "../contracts/pod-volumes.ts";
import { dueAt, startServiceAccountTokens, type ServiceAccountTokens } from "./service-account-tokens.ts";
import { aPod } from "../testing/world.ts";

const POD = aPod("p", { serviceAccountName: "robot" }, { uid: "u" });

interface Issuer extends Disposable {
  readonly clock: VirtualClock;
  readonly tokens: ServiceAccountTokens;
  /** All requests in order. */
  readonly asked: JsonObject[];
  isDown: boolean;
}

/** Answers with "t1", "t2", … */
function startIssuer(): Issuer {
  const clock = virtualClock();
  const asked: JsonObject[] = [];
  const post: Client["post"] = (_kind, { namespace, name }, subresource, value) => {
    if (issuer.isDown) return Promise.reject(new Error("the server is down"));
    asked.push({ at: `${namespace}/${name}/${subresource}`, ...(value["spec"] as JsonObject) });
    const lifeSeconds = (value["spec"] as { readonly expirationSeconds: number }).expirationSeconds;
    const status = { token: `t${asked.length}`, expirationTimestamp: formatTime(clock.now() + lifeSeconds * 1_000) };
    return Promise.resolve({ ...value, status });
  };
  const client = { post } as Client;
  const tokens = startServiceAccountTokens({ client, clock, random: seededRandom(1), log: silentLogger });
  const issuer = { clock, tokens, asked, isDown: false, [Symbol.dispose]: () => tokens[Symbol.dispose]() };
  return issuer;
}

const HOUR: TokenSpec = { expirationSeconds: 3_600 };

test("a token is requested once, for the Pod's service account, bound to the Pod", async () => {
  using issuer = startIssuer();
  const both = await Promise.all([issuer.tokens.token(POD, HOUR), issuer.tokens.token(POD, HOUR)]);
  assert.deepEqual([...both, await issuer.tokens.token(POD, HOUR)], ["t1", "t1", "t1"]);
  assert.equal(await issuer.tokens.token(POD, { ...HOUR, audience: "vault" }), "t2");
  const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };
  assert.deepEqual(issuer.asked, [
    { at: "default/robot/token", audiences: [], expirationSeconds: 3_600, boundObjectRef },
    { at: "default/robot/token", audiences: ["vault"], expirationSeconds: 3_600, boundObjectRef },
  ]);
});

test("a token is due for renewal at four fifths of its lifetime or after a day, up to ten seconds earlier", () => {
  const never = { ...seededRandom(1), fraction: () => 0 };
  const most = { ...never, fraction: () => 1 };
  const life = (seconds: number) => ({ issuedAtMs: 0, expiresAtMs: seconds * 1_000 });
  assert.equal(dueAt(life(600), never), 480_000);
  assert.equal(dueAt(life(600), most), 470_000);
  assert.equal(dueAt(life(7 * 86_400), never), 86_400_000);
});

test("a token that is due notifies its Pod and is renewed", async () => {
  using issuer = startIssuer();
  const { clock, tokens } = issuer;
  const notified: string[] = [];
  tokens.listen((podUid) => notified.push(podUid));
  await tokens.token(POD, HOUR);

  await clock.advance(2_860_000);
  assert.deepEqual(notified, []);
  await clock.advance(80_000);

  assert.deepEqual(notified, ["u"]);
  assert.equal(await tokens.token(POD, HOUR), "t2");
  await clock.advance(3_000_000);
  assert.deepEqual(notified, ["u", "u"]);
});

test("a token that cannot be renewed is used until it expires, and renewal is retried", async () => {
  using issuer = startIssuer();
  const { clock, tokens } = issuer;
  let notified = 0;
  tokens.listen(() => void notified++);
  await tokens.token(POD, HOUR);
  await clock.advance(3_000_000);
  issuer.isDown = true;

  assert.equal(await tokens.token(POD, HOUR), "t1");
  await clock.advance(10_000);
  assert.equal(notified, 2);
  await clock.advance(700_000);
  await assert.rejects(tokens.token(POD, HOUR), /expired and refresh failed: the server is down$/);
  issuer.isDown = false;
  await clock.advance(120_000);

  assert.equal(await tokens.token(POD, HOUR), "t2");
});

test("a failure without a valid token has upstream's message, and a removed Pod leaves no state", async () => {
  using issuer = startIssuer();
  issuer.isDown = true;
  await assert.rejects(issuer.tokens.token(POD, HOUR), { message: "failed to fetch token: the server is down" });
  issuer.isDown = false;
  await issuer.tokens.token(POD, HOUR);
  const notified: string[] = [];
  issuer.tokens.listen((podUid) => notified.push(podUid));

  issuer.tokens.forget("u");
  await issuer.clock.advance(4_000_000);

  assert.deepEqual(notified, []);
  assert.equal(await issuer.tokens.token(POD, HOUR), "t2");
});
