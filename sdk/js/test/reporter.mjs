/** Prints failures, and `N passed, N failed` as the last line, as all suites. */
export default async function* report(source) {
  let passed = 0;
  let failed = 0;
  for await (const { type, data } of source) {
    if (type === "test:stderr") yield data.message;
    if (data?.details?.type === "suite") continue;
    if (type === "test:pass") passed++;
    if (type !== "test:fail") continue;
    failed++;
    yield `FAIL ${data.file}:${data.line} ${data.name}\n${data.details.error.cause?.stack ?? data.details.error}\n`;
  }
  yield `${passed} passed, ${failed} failed\n`;
}
