/** A whole cluster in one process that listens, and measures for how long its event loop is held. */
import { readFile } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { TokenRules } from "../../src/apiserver/shared/token-rules/token-rules.ts";
import { EvaluationTurns } from "../../src/cel/program/evaluation-turns.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { collectGarbage, serve } from "../serve.ts";
import { ProcessorHold } from "./processor-hold.ts";

export interface Held {
  readonly clockMs: number;
  /** Undefined where the kernel does not report it. */
  readonly processorMs: number | undefined;
}

export interface Listening {
  readonly port: number;
  readonly cert: string;
  readonly key: string;
}

/** The histogram's timer; what it records includes this. */
const RESOLUTION_MS = 1;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
const processorHold = ProcessorHold.start();

/** A request's headers have at most 16 KiB. */
const WORDS = Array.from({ length: 1_500 }, (_, index) => `word${index}`);
const CLAIMS = { text: "a".repeat(12_000), words: WORDS };
const TOKEN_RULES = [
  "dyn(claims.words).all(a, dyn(claims.words).all(b, dyn(claims.words).all(c, a + b != c)))",
  "dyn(claims.words).exists(w, dyn(claims.text).matches('(x?){900}(y?){900}z'))",
  "dyn(claims.words).exists(w, dyn(claims.text).split('').size() == 0)",
];

const tasks = {
  async start(_input: null): Promise<Listening> {
    const cluster = await startCluster({ nodes: 1, listen: true });
    const { users } = JSON.parse(await readFile(cluster.kubeconfig, "utf8")) as { users: [{ user: Record<string, string> }] };
    const pem = (member: string) => Buffer.from(users[0].user[member] ?? "", "base64").toString();
    delays.enable();
    return { port: Number(new URL(cluster.url).port), cert: pem("client-certificate-data"), key: pem("client-key-data") };
  },

  /** Claims that a token of the largest size can have, and rules of the authentication configuration that take long for them. */
  async checkTokens(_input: null): Promise<void> {
    const turns = new EvaluationTurns((work) => void setImmediate(work));
    for (const expression of TOKEN_RULES) {
      const rules = new TokenRules({ claimRules: [{ expression, message: "" }] });
      await rules.check(turns, CLAIMS, { name: "someone", groups: [] })?.catch(() => undefined);
    }
  },

  begin(_input: null): Promise<void> {
    collectGarbage();
    delays.reset();
    processorHold?.reset();
    return Promise.resolve();
  },

  /** The longest hold since `begin`. */
  end(_input: null): Promise<Held> {
    const clockMs = Math.max(0, delays.max / 1e6 - RESOLUTION_MS);
    return Promise.resolve({ clockMs, processorMs: processorHold?.longestMs });
  },
};

export type HostileTasks = typeof tasks;

serve(tasks);
