package page

// styleSheet is the style of every page. Text has a contrast of 4.5:1 at least, edges of controls 3:1 (WCAG 2.2, 1.4.3 and
// 1.4.11); controls are 48 pixels high (2.5.5 asks for 44).
const styleSheet = `
:root {
  --page: #f3f4f6; --card: #fff; --text: #14181f; --muted: #535c69; --line: #dde1e6; --control: #868e9a; --hover: #f1f3f5;
  --error: #9b1c1c; --error-card: #fdf1f1; --error-line: #f2c2c2; --focus: #1d4ed8; --shade: #1018281a;
}
@media screen {
  .__next-auth-theme-dark {` + dark + `}
}
@media screen and (prefers-color-scheme: dark) {
  .__next-auth-theme-auto {` + dark + `}
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; min-height: 100dvh; padding: 32px 16px; display: grid; align-items: center; justify-items: center;
  background: var(--page); color: var(--text); overflow-wrap: anywhere; text-size-adjust: 100%; -webkit-text-size-adjust: 100%;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif;
}
body::before { content: ""; position: fixed; inset: 0 0 auto; height: 4px; background: var(--brand-color, transparent); }
main {
  width: 100%; max-width: 400px; padding: 40px 32px; text-align: center;
  background: var(--card); border: 1px solid var(--line); border-radius: 16px; box-shadow: 0 1px 2px var(--shade), 0 12px 32px -12px var(--shade);
}
.logo { display: block; width: auto; max-width: 100%; height: 56px; margin: 0 auto 24px; object-fit: contain; }
.icon { width: 48px; height: 48px; margin-bottom: 12px; fill: none; color: var(--muted); stroke: currentColor; stroke-width: 1.5; stroke-linecap: round; stroke-linejoin: round; }
h1, .title { margin: 0; font-size: 24px; font-weight: 650; line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
h1 + *, .host { margin: 8px 0 0; color: var(--muted); }
p { margin: 8px 0 0; color: var(--muted); text-wrap: pretty; }
form { margin: 24px 0 0; text-align: left; }
form + form { margin-top: 12px; }
hr { display: grid; place-content: center; height: 0; margin: 32px 0; border: 0; border-top: 1px solid var(--line); overflow: visible; color: var(--muted); }
hr::after { content: "or"; padding: 0 12px; background: var(--card); font-size: 14px; line-height: 1; }
hr + form { margin-top: 0; }
hr:has(+ [hidden]), [hidden]:first-of-type + noscript + hr { display: none; }
.error { margin-top: 24px; padding: 12px 16px; background: var(--error-card); border: 1px solid var(--error-line); border-radius: 10px; text-align: left; }
form .error { margin: 0 0 16px; }
.error p { margin: 0; color: var(--error); font-size: 15px; }
.field { margin-bottom: 16px; }
.hidden { display: none; }
label { display: block; margin-bottom: 6px; font-size: 14px; font-weight: 600; }
input { display: block; width: 100%; min-height: 48px; padding: 8px 14px; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--control); border-radius: 10px; }
input::placeholder { color: var(--muted); opacity: 1; }
[type=checkbox], [type=radio] { width: 24px; min-height: 24px; margin: 0; }
button, .button {
  display: flex; align-items: center; gap: 14px; width: 100%; min-height: 48px; padding: 8px 14px;
  font: inherit; font-weight: 500; line-height: 1.3; text-align: left; text-decoration: none; color: var(--text); background: var(--card);
  border: 1px solid var(--control); border-radius: 10px; cursor: pointer;
}
.primary, .button { justify-content: center; font-weight: 600; text-align: center; }
button:not(.primary):hover, .button:hover { background: var(--hover); }
.primary { color: #fff; background: #2563eb; border-color: var(--shade); }
.primary:hover { box-shadow: 0 0 0 4px color-mix(in srgb, var(--brand-color, #2563eb) 30%, transparent); }
.button { margin-top: 24px; }
a { color: inherit; }
.site { display: inline-block; margin-bottom: -10px; padding: 10px; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.initial {
  position: relative; flex: none; display: grid; place-items: center; width: 28px; height: 28px; margin: -4px 0; overflow: hidden;
  border-radius: 8px; background: var(--hover); box-shadow: inset 0 0 0 1px var(--line); font-size: 15px; font-weight: 600; line-height: 1;
}
.initial::after { content: attr(data-letter); position: relative; text-transform: uppercase; }
.initial svg { position: absolute; inset: 0; width: 100%; height: 100%; }
.on-dark { color: #fff; }
.on-light { color: #000; }
@media screen and (prefers-reduced-motion: no-preference) {
  button, .button, input { transition: background-color .15s, border-color .15s, box-shadow .15s; }
}
@media (prefers-contrast: more) {
  body[class] { --muted: var(--text); --control: var(--text); --line: var(--text); }
}
@media (forced-colors: active) {
  .icon { color: CanvasText; }
  .initial svg { display: none; }
}
@media print {
  :root { color-scheme: light; }
  body { background: #fff; }
  main { border: 0; box-shadow: none; }
  button.primary { color: inherit; background: none; border-color: currentColor; }
}
`

const dark = `
    color-scheme: dark; --page: #0d1117; --card: #171c24; --text: #e8ecf2; --muted: #a4aebb; --line: #2d343f; --control: #707a88; --hover: #222934;
    --error: #ffb3ad; --error-card: #2f1719; --error-line: #6b2d30; --focus: #8ab4ff; --shade: #0006;
  `
