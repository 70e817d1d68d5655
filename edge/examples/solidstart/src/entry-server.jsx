// @refresh reload
import { createHandler, StartServer } from "@solidjs/start/server"

const styles = `
  body { max-width: 40rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
  nav a { margin-right: 1rem; }
  form { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: 1rem 0; }
  label { display: grid; }
  button, input { box-sizing: border-box; max-width: 100%; padding: .5rem 1rem; font: inherit; }
`

export default createHandler(() => (
  <StartServer
    document={({ assets, children, scripts }) => (
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <link rel="icon" href="data:," />
          <title>SolidStart with a handler at the edge</title>
          <style>{styles}</style>
          {assets}
        </head>
        <body>
          <div id="app">{children}</div>
          {scripts}
        </body>
      </html>
    )}
  />
))
