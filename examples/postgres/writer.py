# SPDX-License-Identifier: MIT
"""A client that writes all the while, so that autovacuum and the checkpointer have work; it connects
again when it is thrown out."""

import threading

from session import Lost, Session

STATEMENT = "update account set balance = balance + 1 where number = %d"
NR_ACCOUNTS = 1000


class Writer(threading.Thread):
    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.ending = threading.Event()
        self.nr_commits = self.nr_refused = self.nr_lost = 0
        self.complaint = ""
        with_table = Session(server)
        with_table.ask("create table account as select number, 0 as balance, repeat('x', 200) as text"
                       " from generate_series(0, %d) number" % (NR_ACCOUNTS - 1))
        with_table.close()

    def run(self):
        session, number = None, 0
        while not self.ending.is_set():
            try:
                session = session or Session(self.server)
                answer = session.ask(STATEMENT % number)
            except Lost as error:
                if session:
                    self.nr_lost += 1
                    self.complaint = self.complaint or str(error)
                    session.close()
                # Else the server is on its way down or up, and lets nobody in.
                session = None
                self.ending.wait(0.05)
                continue
            if answer:
                self.nr_refused += 1
                self.complaint = self.complaint or answer
            else:
                self.nr_commits += 1
            number = (number + 1) % NR_ACCOUNTS
        if session:
            session.close()

    def end(self):
        self.ending.set()
        self.join()
        cleaning = Session(self.server)
        cleaning.ask("drop table account")
        cleaning.close()
