/**
 * Shared by all steps of the set-up: progress lines, running a program silently, and the error that needs no stack trace. A program's
 * output is printed only if it failed.
 */
import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** Root directory of the clone. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** A failure whose message is complete: the action, the problem, the remedy. */
export class StepFailed extends Error {}

/**
 * Runs `work` and prints one line with its name and duration.
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
 * @property {number | null} exitCode null: terminated by a signal, or not started
 * @property {string} output standard output and standard error, in order of arrival
 */

/** @typedef {{ env?: NodeJS.ProcessEnv, timeoutMs?: number }} RunOptions */

/**
 * Runs a program until it exits or the timeout expires. Never rejects.
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
      resolve({ exitCode, output: signal === null ? output : `${output}\n${command} was terminated by ${signal}` });
    });
  });
}

/**
 * Runs npm: the one that started this process, else the one on the PATH.
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 */
export function npm(args, options) {
  const script = process.env["npm_execpath"];
  return script?.endsWith(".js") ? run(process.execPath, [script, ...args], options) : run("npm", args, options);
}
