/**
 * The longest hold of the event loop, by the clock and in processor time, while clients send hostile expressions over HTTPS to a running cluster: objects of every kind that has
 * expressions which take long to compile, custom resources for which those of policies take long to compile and to evaluate, and tokens for
 * which those of the authentication configuration do. Beside it, the same objects without a policy.
 */
import { Agent, request } from "node:https";
import { Disposables } from "../../src/base/disposables.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { Benchmark, Figure } from "../benchmark.ts";
import { startChild, type Child } from "../child.ts";
import { figureOf } from "../figure.ts";
import { binding, COMPILED, definition, EVALUATED, PLACES, POLICIES, policy, SPECS, THINGS, type Sent } from "./hostile-cases.ts";
import type { Held, HostileTasks, Listening } from "./hostile-child.ts";

/** The goal. */
const HOLD_MS_MAX = 50;
const JSON_CONTENT = { "content-type": "application/json" };

export const extensionHostile: Benchmark = {
  name: "extension/hostile",
  measures: "the longest hold of the event loop of a running cluster while hostile expressions are compiled and evaluated",
  async *run({ signal, rounds }) {
    await using children = new Disposables();
    const child = children.use(startChild<HostileTasks>(import.meta.url, "hostile-child", signal));
    const cluster = new HostileClient(child, await child.call("start", null));
    await cluster.prepare();
    const places = Object.entries(PLACES).map(
      ([place, sent]) => [`compiled: ${place}`, () => cluster.longest(COMPILED.map((each) => () => cluster.dryRun(sent(each))))] as const,
    );
    const subjects: Record<string, () => Promise<Held>> = {
      plain: () => cluster.longest(Object.keys(SPECS).map((spec) => () => cluster.create("plain", spec))),
      ...Object.fromEntries(places),
      "compiled: when first used": () => cluster.longest(COMPILED.slice(0, FIRST_USED).map((each) => () => cluster.useFirst(each))),
      "evaluated: policies": () =>
        cluster.longest(
          EVALUATED.map(
            ([spec], index) =>
              () =>
                cluster.create(`case-${index}`, spec),
          ),
        ),
      "evaluated: token rules": () => cluster.longest([() => child.call("checkTokens", null)]),
    };
    const results = await rounds.measure(subjects, ROUNDS);
    for (const [subject, values = []] of Object.entries(results)) yield* figuresOf(subject, values);
  },
};

/** Only the processor time has a budget where it is known: that of the clock includes what other processes take. */
function* figuresOf(subject: string, held: readonly Held[]): Generator<Figure> {
  const name = `extension/hostile-${subject.replace(/:? /g, "-")}`;
  const budget = subject === "plain" ? {} : { budget: { atMost: HOLD_MS_MAX } };
  const processor = held.flatMap(({ processorMs }) => processorMs ?? []);
  if (processor.length > 0) yield figureOf({ name: `${name}-processor`, unit: "ms", values: processor, ...budget });
  yield figureOf({ name, unit: "ms", values: held.map(({ clockMs }) => clockMs), ...(processor.length > 0 ? {} : budget) });
}

/** Each compiles 8 expressions in 9 places. */
const ROUNDS = 3;
/** Of the expressions, those that are valid and long. */
const FIRST_USED = 3;

class HostileClient {
  readonly #child: Child<HostileTasks>;
  readonly #port: number;
  readonly #agent: Agent;
  #policies = 0;

  constructor(child: Child<HostileTasks>, { port, cert, key }: Listening) {
    this.#child = child;
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, cert, key, rejectUnauthorized: false });
  }

  /** A definition, and one policy for the objects of every case. */
  async prepare(): Promise<void> {
    await this.#create(definition("things", []));
    for (const [index, [, expression]] of EVALUATED.entries()) await this.#bind(`case-${index}`, [expression]);
    while ((await this.create("ready", "words")) !== CREATED);
  }

  create(name: string, spec: string): Promise<number> {
    const metadata = { name, labels: { case: name } };
    return this.#send("POST", `${THINGS}?dryRun=All`, { apiVersion: "example.com/v1", kind: "Thing", metadata, spec: SPECS[spec] ?? {} });
  }

  /** Throws if the place is not one that the server knows: nothing would be compiled. */
  async dryRun({ path, object }: Sent): Promise<void> {
    const code = await this.#send("POST", `${path}?dryRun=All`, object);
    if (code !== CREATED && code !== INVALID) throw new Error(`${path} was answered with ${code}`);
  }

  /** A policy is compiled again when the first request needs it, and its types are checked by a controller. */
  async useFirst(expression: string): Promise<void> {
    const name = `first-${this.#policies++}`;
    await this.#bind(
      name,
      Array.from({ length: FIRST_USED_COPIES }, () => expression),
    );
    await this.create(name, "");
    await this.#send("DELETE", `${POLICIES}/${name}`, {});
  }

  /** The longest hold during any of these. */
  async longest(works: readonly (() => Promise<unknown>)[]): Promise<Held> {
    let longest: Held = { clockMs: 0, processorMs: undefined };
    for (const work of works) {
      await this.#child.call("begin", null);
      await work();
      const { clockMs, processorMs } = await this.#child.call("end", null);
      longest = {
        clockMs: Math.max(longest.clockMs, clockMs),
        processorMs: processorMs === undefined ? undefined : Math.max(longest.processorMs ?? 0, processorMs),
      };
    }
    return longest;
  }

  async #bind(name: string, expressions: readonly string[]): Promise<void> {
    await this.#create(policy(name, expressions));
    await this.#create(binding(name));
  }

  async #create({ path, object }: Sent): Promise<void> {
    const code = await this.#send("POST", path, object);
    if (code !== CREATED) throw new Error(`${path} was answered with ${code}`);
  }

  /** The status code. Sent again if the server had just closed the idle connection, as it may while token rules are measured. */
  #send(method: string, path: string, body: JsonObject): Promise<number> {
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, host: "127.0.0.1", port: this.#port, method, path, headers: JSON_CONTENT };
      const sent = request(options, (answer) => {
        answer.resume().once("end", () => resolve(answer.statusCode ?? 0));
      });
      const failed = (error: Error): void => {
        if (sent.reusedSocket) resolve(this.#send(method, path, body));
        else reject(error);
      };
      sent.once("error", failed).end(JSON.stringify(body));
    });
  }
}

const FIRST_USED_COPIES = 10;
const CREATED = 201;
const INVALID = 422;
