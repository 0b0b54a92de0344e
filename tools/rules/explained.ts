/** Why a rule of upstream is shown by no test. An explanation that no rule needs any more fails the run, so that none goes stale. */
export interface Explanation {
  /** Of one kind, or of all if there is none. */
  readonly kind?: string;
  /** Of the rule as rules.ts describes it. */
  readonly rule: string | RegExp;
  readonly why: string;
}

export const explanations: readonly Explanation[] = [
  {
    rule: /^InternalError /,
    why: "Upstream says so where its own code is wrong, or where a type of Go has a value that JSON cannot give it.",
  },
];
