/** Whether the user may do something, before it is offered. */
import { useEffect, useState } from "preact/hooks";
import { forbiddenText, mayDo, type Attributes } from "../../data/access.ts";
import type { Context } from "../views/view.ts";

/** Undefined while it is not known; "" if all of it is allowed; otherwise what is not, as a sentence. */
export function useAccess({ api }: Context, needed: readonly Attributes[]): string | undefined {
  const [problem, setProblem] = useState<string | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    setProblem(undefined);
    void firstForbidden({ api }, needed).then((text) => {
      if (isCurrent) setProblem(text);
    });
    return () => void (isCurrent = false);
  }, [api, JSON.stringify(needed)]);
  return problem;
}

/** If the review itself fails, the request is tried: its own error says more. */
async function firstForbidden({ api }: Pick<Context, "api">, needed: readonly Attributes[]): Promise<string> {
  const answers = await Promise.all(needed.map((attributes) => mayDo(api, attributes).catch(() => true)));
  const index = answers.indexOf(false);
  const attributes = index < 0 ? undefined : needed[index];
  return attributes === undefined ? "" : forbiddenText(attributes);
}
