/** The macrotask of a browser for virtual time. Not setTimeout, which browsers delay by 4 ms, and by a second in hidden tabs. */

export function eventLoopMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel.port2.postMessage(undefined);
  });
}

const waiting: (() => void)[] = [];
const channel = new MessageChannel();
channel.port1.addEventListener("message", () => waiting.shift()?.());
channel.port1.start();
