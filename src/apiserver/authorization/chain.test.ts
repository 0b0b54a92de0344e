import assert from "node:assert/strict";
import test from "node:test";
import type { SubjectRulesReviewStatus } from "../../api/generated/authorization.k8s.io/v1.ts";
import type { AccessDecision, AuthorizationContext, AuthorizationModule } from "../framework/authorization.ts";
import { alwaysAllow, alwaysDeny } from "./always.ts";
import { AuthorizationChain } from "./chain.ts";

const CONTEXT = {} as AuthorizationContext;
const JANE = { name: "jane", groups: ["dev"] };
const QUESTION = { user: JANE, verb: "get", path: "/a" };

const yes = { allowed: true, reason: "yes" };
const no = { allowed: false, denied: true, reason: "no", evaluationError: "half blind" };
const perhaps = { allowed: false, reason: "perhaps", evaluationError: "blind" };
const silent = { allowed: false };

function chainOf(...modules: readonly Partial<AuthorizationModule>[]): AuthorizationChain {
  const nothing = { name: "", authorize: () => silent, start: () => Promise.resolve() };
  const known = Object.fromEntries(modules.map((module, index) => [String(index), () => ({ ...nothing, ...module })]));
  return new AuthorizationChain(Object.keys(known), CONTEXT, known);
}

const ROWS: readonly [asked: readonly AccessDecision[], answer: AccessDecision][] = [
  [[], silent],
  [[silent, silent], silent],
  [[yes, no], yes],
  [[perhaps, yes], yes],
  [[perhaps, no, yes], no],
  [[perhaps], perhaps],
  [[perhaps, silent, { ...perhaps, reason: "why not" }], { allowed: false, reason: "perhaps\nwhy not", evaluationError: "blind" }],
  [[perhaps, { allowed: false, evaluationError: "deaf" }], { allowed: false, reason: "perhaps", evaluationError: "[blind, deaf]" }],
];

for (const [asked, answer] of ROWS) {
  test(`the authorizer chain for ${JSON.stringify(asked)} returns ${JSON.stringify(answer)}`, () => {
    const chain = chainOf(...asked.map((decision) => ({ authorize: () => decision })));

    assert.deepEqual(chain.authorize(QUESTION), answer);
  });
}

test("system:masters is allowed everything before any authorizer is called, and no other group is", () => {
  const chain = chainOf({ authorize: () => no });

  assert.deepEqual(chain.authorize({ ...QUESTION, user: { name: "a", groups: ["b", "system:masters"] } }), {
    allowed: true,
    authorizer: "system:masters",
  });
  assert.equal(chain.authorize({ ...QUESTION, user: { name: "system:masters", groups: ["system:masters2"] } }).allowed, false);
});

test("the authorizer chain lists the rules of all authorizers and reports incomplete lists", () => {
  const rule = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
  const some: SubjectRulesReviewStatus = { resourceRules: [rule], nonResourceRules: [], incomplete: false };
  const failing: SubjectRulesReviewStatus = { resourceRules: [], nonResourceRules: [], incomplete: false, evaluationError: "blind" };

  assert.deepEqual(chainOf({ rulesFor: () => some }, { rulesFor: () => some }).rulesFor(JANE, "a"), {
    ...some,
    resourceRules: [rule, rule],
  });
  assert.deepEqual(chainOf({ rulesFor: () => some }, {}).rulesFor(JANE, "a"), { ...some, incomplete: true });
  assert.deepEqual(chainOf({ rulesFor: () => failing }, { rulesFor: () => failing }).rulesFor(JANE, "a"), failing);
});

test("the authorizer chain is ready when all authorizers are, and rejects an unknown mode", async () => {
  const started: string[] = [];
  const start = (name: string) => ({ start: () => Promise.resolve(void started.push(name)) });

  await chainOf(start("a"), start("b")).start();

  assert.deepEqual(started, ["a", "b"]);
  assert.throws(
    () => new AuthorizationChain(["constructor"], CONTEXT),
    /Unknown authorization mode "constructor"; known modes are AlwaysAllow, /,
  );
});

test("AlwaysAllow lists all rules, AlwaysDeny reports an error and has no opinion", () => {
  const everything = {
    resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
    nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
  };

  assert.deepEqual(alwaysAllow(CONTEXT).authorize(QUESTION), { allowed: true, authorizer: "AlwaysAllow" });
  assert.deepEqual(alwaysAllow(CONTEXT).rulesFor?.(JANE, "a"), { ...everything, incomplete: false });
  assert.deepEqual(alwaysDeny(CONTEXT).authorize(QUESTION), { allowed: false, reason: "Everything is forbidden." });
  assert.deepEqual(alwaysDeny(CONTEXT).rulesFor?.(JANE, "a"), { resourceRules: [], nonResourceRules: [], incomplete: false });
});
