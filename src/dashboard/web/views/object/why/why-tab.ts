/**
 * Why the object is as it is: the answer of `k8ts why`, as a tree of causes, and on request a remedy that worked on a copy of the cluster.
 * The server computes it with the user's permissions (server/why-requests.ts), or the page itself on a cluster in the same tab.
 */
import { h, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isReason } from "../../../../../api/machinery/status-error.ts";
import type { Finding } from "../../../../../explain/why/explainer.ts";
import { originLine, REMEDY_TEXTS, TRIED, type ShownRemedy, type WhyAnswer } from "../../../../../explain/why/why-text.ts";
import { kindId } from "../../../../data/kinds.ts";
import { WHY_PATH } from "../../../../data/paths.ts";
import { retryDelayMs } from "../../../../data/retry.ts";
import { Button } from "../../../parts/form.ts";
import { ErrorNote, Waiting } from "../../../parts/notes.ts";
import type { Context } from "../../view.ts";
import type { Tab, TabProps } from "../tab.ts";

export const whyTab: Tab = {
  name: "why",
  title: "Why",
  // Records of the past, and copies of other objects.
  isFor: ({ kind, verbs }) => verbs.includes("list") && kind !== "Event" && !kind.endsWith("Metrics"),
  component: WhyTab,
};

type Asked =
  | { readonly is: "waiting" }
  | { readonly is: "answered"; readonly answer: WhyAnswer }
  | { readonly is: "failed"; readonly error: Error };

function WhyTab({ context, kind, object }: TabProps): JSX.Element {
  const [asked, setAsked] = useState<Asked>({ is: "waiting" });
  const [tries, setTries] = useState(false);
  const [round, setRound] = useState(0);
  const { api, at } = context;
  const { name, namespace = "" } = object.metadata;
  useEffect(() => {
    const life = new AbortController();
    const query = {
      resource: kindId(kind),
      namespace,
      name,
      ...(at === undefined ? {} : { at: at.revision }),
      ...(tries ? { try: "true" } : {}),
    };
    setAsked({ is: "waiting" });
    answerTo(context, new URLSearchParams(query).toString(), life.signal).then(
      (answer) => setAsked({ is: "answered", answer }),
      (error: Error) => life.signal.aborted || setAsked({ is: "failed", error }),
    );
    return () => life.abort();
  }, [api, kindId(kind), namespace, name, at?.revision, tries, round]);
  const again = (withTrials: boolean) => {
    setTries(withTrials);
    setRound(round + 1);
  };
  const isWaiting = asked.is === "waiting";
  const canTry = at === undefined && asked.is === "answered" && !asked.answer.healthy && asked.answer.remedy.is === "not tried";
  return h(
    "div",
    { class: "why" },
    h(
      "div",
      { class: "controls" },
      h(Button, { text: "Explain again", isDisabled: isWaiting, press: () => again(false) }),
      canTry ? h(Button, { text: "Find a remedy", look: "primary", press: () => again(true) }) : null,
    ),
    isWaiting ? h(Waiting, { what: tries ? "remedies: each is tried on a copy of the cluster" : "the causes" }) : null,
    asked.is === "failed" ? h(ErrorNote, { error: asked.error, retry: () => again(tries) }) : null,
    asked.is === "answered" ? h(Answer, { answer: asked.answer, isPast: at !== undefined }) : null,
  );
}

/** Browsers abort all requests when an address of the machine changes, as new Pods do: a trial of some seconds is repeated. */
const ATTEMPTS = 5;

async function answerTo({ api, browser: { clock } }: Context, query: string, signal: AbortSignal): Promise<WhyAnswer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await api.get<WhyAnswer>(`${WHY_PATH}?${query}`, signal);
    } catch (error) {
      if (attempt === ATTEMPTS || !isReason(error, "ServiceUnavailable")) throw error;
      await clock.sleep(retryDelayMs(error), signal);
    }
  }
}

function Answer({ answer, isPast }: { readonly answer: WhyAnswer; readonly isPast: boolean }): JSX.Element {
  return h(
    "div",
    { class: "answer", "aria-live": "polite" },
    answer.healthy
      ? h("p", { class: "note" }, `${answer.text}.`)
      : [
          h("p", { class: "what" }, answer.finding.text),
          h(Causes, { causes: answer.finding.because ?? [] }),
          answer.origin === undefined ? null : h("p", { class: "count" }, originLine(answer.origin)),
          h(Remedy, { remedy: answer.remedy, isPast }),
        ],
    answer.unread.length === 0
      ? null
      : h(
          "details",
          null,
          h("summary", null, `Not known, because it could not be read (${answer.unread.length})`),
          h(
            "ul",
            { class: "pairs" },
            answer.unread.map((line) => h("li", { key: line }, line)),
          ),
        ),
  );
}

function Causes({ causes }: { readonly causes: readonly Finding[] }): JSX.Element | null {
  if (causes.length === 0) return null;
  return h(
    "ul",
    { class: "causes" },
    causes.map(({ text, isUnknown, root, because = [] }) =>
      h(
        "li",
        null,
        isUnknown === true ? h("span", { class: "count" }, "unknown: ") : null,
        h("span", { class: root === undefined ? undefined : "root" }, text),
        h(Causes, { causes: because }),
      ),
    ),
  );
}

function Remedy({ remedy, isPast }: { readonly remedy: ShownRemedy; readonly isPast: boolean }): JSX.Element | null {
  if (remedy.is === "not tried") return isPast ? h("p", { class: "count" }, "Remedies are tried on the present state only.") : null;
  if (remedy.is !== "verified") return h("p", null, REMEDY_TEXTS[remedy.is]);
  return h(
    "section",
    null,
    h("h2", null, "Remedy"),
    h("p", null, `${remedy.text} (${TRIED}):`),
    h("pre", { tabIndex: 0, role: "region", "aria-label": "Commands of the remedy" }, remedy.commands.join("\n")),
  );
}
