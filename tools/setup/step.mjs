/**
 * What all steps of the set-up share: the line of progress, running a program quietly, and the error that needs no stack.
 * A program's output is shown only if it failed: then it is all there is to go by.
 */
import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The directory of the clone. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A failure whose message says everything: what was tried, what is wrong, what to do. */
export class StepFailed extends Error {}

/**
 * Does `work` and prints one line: what, how long.
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function step(what, work) {
  const began = performance.now();
  process.stdout.write(`set-up: ${what} ... `);
  try {
    const result = await work();
    process.stdout.write(`${((performance.now() - began) / 1000).toFixed(1)} s\n`);
    return result;
  } catch (error) {
    process.stdout.write("failed\n");
    throw error;
  }
}

/**
 * @typedef {object} Outcome
 * @property {number | null} exitCode null: a signal ended it, or it could not be started
 * @property {string} output standard output and standard error, in the order in which they came
 */

/** @typedef {{ env?: NodeJS.ProcessEnv, timeoutMs?: number }} RunOptions */

/**
 * Runs a program to its end, or for so long. Never rejects.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 * @returns {Promise<Outcome>}
 */
export function run(command, args, { env = process.env, timeoutMs } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"], timeout: timeoutMs, killSignal: "SIGKILL" });
    let output = "";
    const collect = (/** @type {Buffer} */ chunk) => {
      output += chunk.toString();
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", (error) => resolve({ exitCode: null, output: `Cannot run ${command}: ${error.message}` }));
    child.on("close", (exitCode, signal) => {
      resolve({ exitCode, output: signal === null ? output : `${output}\n${command} was ended by ${signal}` });
    });
  });
}

/**
 * Runs npm: the one that called us, if one did, else the one on the path.
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 */
export function npm(args, options) {
  const script = process.env["npm_execpath"];
  return script?.endsWith(".js") ? run(process.execPath, [script, ...args], options) : run("npm", args, options);
}
