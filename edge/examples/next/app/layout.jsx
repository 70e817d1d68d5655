import Link from "next/link"
import "./globals.css"

export const metadata = { title: "Next.js with a handler at the edge", icons: "data:," }

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>
        <nav>
          <Link href="/">Home</Link> <Link href="/client">In the browser</Link>{" "}
          <Link href="/account" prefetch={false}>Account</Link>
        </nav>
        <main>{children}</main>
      </body>
    </html>
  )
}
