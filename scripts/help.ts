/** Prints `text` and ends the script when the command line asks for help. */
export const helpRequested = (text: string): void => {
  if (!process.argv.slice(2).some((word) => word === '--help' || word === '-h')) return
  console.log(text)
  process.exit(0)
}
