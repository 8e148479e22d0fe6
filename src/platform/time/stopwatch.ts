/**
 * Returns the milliseconds since now in which this process worked: never more than have passed, and none while others
 * ran.
 */
export function stopwatch(): () => number {
  const [startsAt, usage] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(usage);
    return Math.min(performance.now() - startsAt, (user + system) / 1000);
  };
}
