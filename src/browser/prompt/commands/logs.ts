/** `kubectl logs` and `wait`. */
import type { KubeObject } from "../../../api/machinery/object.ts";
import { isReason } from "../../../api/machinery/status-error.ts";
import { lineBatches } from "../../../dashboard/data/lines.ts";
import { findKind } from "../../../dashboard/data/kinds.ts";
import { within, type Command, type CommandContext } from "../command.ts";
import { NAMESPACE_FLAG, parseArguments, SELECTOR_FLAG, UsageError } from "../flags.ts";
import { chosenTargets, getObject, namedTargets, objectPath, shownName, withQuery, type Target } from "../resources.ts";

const POLL_MS = 500;

interface Selecting {
  readonly spec?: { readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } };
}

export const logs: Command = {
  name: ["logs"],
  usage: "POD | TYPE/NAME [-c CONTAINER] [-f] [--tail=N] [-p]",
  summary: "Print the log of a container",
  async run(words, given) {
    const specs = {
      container: { short: "c" },
      follow: { isSwitch: true, short: "f" },
      previous: { isSwitch: true, short: "p" },
      tail: {},
    } as const;
    const { positional, flags } = parseArguments(words, { ...specs, ...NAMESPACE_FLAG });
    const context = within(given, flags);
    const [first, ...more] = positional;
    if (first === undefined || more.length > 0)
      throw new UsageError(
        "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command",
      );
    const pod = await podOf(context, first.includes("/") ? first : `pod/${first}`);
    const query = {
      ...(flags["container"] === undefined ? {} : { container: flags["container"] }),
      ...(flags["follow"] === undefined ? {} : { follow: "true" }),
      ...(flags["previous"] === undefined ? {} : { previous: "true" }),
      ...(flags["tail"] === undefined ? {} : { tailLines: flags["tail"] }),
    };
    const response = await context.api.send({
      path: withQuery(`${objectPath(pod, context)}/log`, query),
      accept: "*/*",
      signal: context.signal,
    });
    for await (const lines of lineBatches(response.pieces())) for (const line of lines) context.out(line);
  },
};

/** The Pod itself, or the first one of a workload. */
async function podOf(context: CommandContext, word: string): Promise<Required<Target>> {
  const [target] = await namedTargets(context, [word]);
  const kind = findKind(await context.kinds(), "pods");
  if (target === undefined || kind === undefined) throw new UsageError(`cannot find ${word}`);
  if (target.kind === kind) return target;
  const { spec } = (await getObject(context, target)) as Selecting;
  const selector = Object.entries(spec?.selector?.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
  const [first] = selector === "" ? [] : await chosenTargets(context, ["pods"], { selector });
  if (first === undefined) throw new UsageError(`timed out waiting for the condition: ${shownName(target)} has no pods`);
  return first;
}

interface Conditioned extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const DEFAULT_TIMEOUT_SECONDS = 30;

export const wait: Command = {
  name: ["wait"],
  usage: "TYPE NAME --for=condition=TYPE|delete [--timeout=30s] [-l SELECTOR]",
  summary: "Wait until objects have a condition or are gone",
  async run(words, given) {
    const { positional, flags } = parseArguments(words, {
      for: {},
      timeout: {},
      all: { isSwitch: true },
      ...NAMESPACE_FLAG,
      ...SELECTOR_FLAG,
    });
    const context = within(given, flags);
    const what = flags["for"];
    if (what === undefined) throw new UsageError("must specify --for");
    const [, condition, status = "True"] = /^condition=([^=]+)(?:=(.+))?$/.exec(what) ?? [];
    if (condition === undefined && what !== "delete") throw new UsageError(`unrecognized condition: ${JSON.stringify(what)}`);
    const endMs = context.clock.now() + secondsOf(flags["timeout"]) * 1_000;
    const targets = await chosenTargets(context, positional, flags);
    if (targets.length === 0) throw new UsageError("no matching resources found");
    for (const target of targets) {
      while (!(await isMet(context, target, condition, status))) {
        if (context.clock.now() >= endMs)
          throw new UsageError(`timed out waiting for the condition on ${target.kind.plural}/${target.name}`);
        await context.clock.sleep(POLL_MS, context.signal);
      }
      context.out(`${shownName(target)} condition met`);
    }
  },
};

function secondsOf(text: string | undefined): number {
  const [, number, unit] = /^(\d+)(s|m|h)$/.exec(text ?? `${DEFAULT_TIMEOUT_SECONDS}s`) ?? [];
  if (number === undefined) throw new UsageError(`invalid argument ${JSON.stringify(text)} for "--timeout" flag`);
  return Number(number) * (unit === "h" ? 3_600 : unit === "m" ? 60 : 1);
}

async function isMet(context: CommandContext, target: Required<Target>, condition: string | undefined, status: string): Promise<boolean> {
  const found = await getObject(context, target).catch((error: unknown) => {
    if (condition === undefined && isReason(error, "NotFound")) return undefined;
    throw error;
  });
  if (condition === undefined || found === undefined) return found === undefined;
  const wanted = condition.toLowerCase();
  const conditions = (found as Conditioned).status?.conditions ?? [];
  return conditions.some((one) => one.type.toLowerCase() === wanted && one.status.toLowerCase() === status.toLowerCase());
}
